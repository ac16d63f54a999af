"""A manifest as a table for people."""

from freight.money import text_of
from freight.quoting import quote


def row_of(parcel):
    return f"{parcel.reference:<8}{parcel.postcode}  {text_of(quote(parcel).total):>7}"


def table_of(manifest):
    """A line for each parcel, and the sum."""
    rows = [row_of(parcel) for parcel in manifest.parcels]
    return "\n".join([*rows, f"{'total':<15}{text_of(manifest.total()):>7}"])
