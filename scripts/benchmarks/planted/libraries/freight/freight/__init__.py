"""What it costs to send parcels."""

from freight.loading import read
from freight.manifest import Manifest
from freight.parcels import Parcel
from freight.quoting import quote

__all__ = ["Manifest", "Parcel", "quote", "read"]
