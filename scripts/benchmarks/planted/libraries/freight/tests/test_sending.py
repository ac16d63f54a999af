import pytest

from freight import Manifest, Parcel, quote
from freight.quoting import cheapest
from freight.rendering import table_of


def parcel(reference="A1", **more):
    told = {"weight": 1200, "length": 30, "width": 20, "height": 10, "postcode": "10115", **more}
    return Parcel(reference, **told)


def test_a_small_parcel_costs_its_tariff_and_fuel():
    found = quote(parcel())

    assert (found.base, found.extras) == (650, {"fuel": 52})


def test_a_light_one_costs_less():
    assert quote(parcel(weight=300, height=2)).base == 390


def test_one_kilogram_is_still_the_second_price():
    assert quote(parcel(weight=1000, height=4)).base == 520


def test_far_away_is_dearer():
    assert quote(parcel(postcode="80331")).base == 820


def test_an_island_is_dearer_still():
    assert quote(parcel(postcode="27498")).extras["island"] == 900


def test_a_long_tube_needs_a_place_of_its_own():
    assert quote(parcel(length=130, width=8, height=8)).extras["bulk"] == 2500


def test_a_large_light_one_is_charged_by_its_size():
    assert quote(parcel(length=50, width=40, height=30)).base == 1790


def test_what_is_dear_is_insured():
    assert quote(parcel(value=80000)).extras["insurance"] == 300


def test_what_is_cheap_is_insured_anyway():
    assert "insurance" not in quote(parcel(value=40000)).extras


def test_an_end_of_cents_is_made_full():
    assert quote(parcel()).total == 705


def test_no_fuel_on_request():
    assert quote(parcel(), {"fuel": 0}).total == 650


def test_an_unknown_wish_is_refused():
    with pytest.raises(ValueError, match="colour"):
        quote(parcel(), {"colour": "red"})


def test_too_heavy_is_refused():
    with pytest.raises(ValueError, match="31500"):
        quote(parcel(weight=40000))


def test_the_cheapest_of_two():
    light, heavy = parcel("L", weight=200, height=2), parcel("H", weight=4000)

    assert cheapest([heavy, light]) is light


def test_a_day_is_the_sum_of_its_parcels():
    sent = Manifest([parcel("A"), parcel("B", postcode="80331", weight=4000)])

    assert sent.total() == 705 + 1220


def test_nothing_goes_twice():
    sent = Manifest([parcel("A")])

    with pytest.raises(ValueError, match="'A'"):
        sent.add(parcel("A"))


def test_parcels_stand_under_their_zone():
    sent = Manifest()
    sent.add(parcel("A"))
    sent.add(parcel("B", postcode="80331"))

    assert {zone: [each.reference for each in found] for zone, found in sent.by_zone().items()} == {
        "near": ["A"],
        "far": ["B"],
    }


def test_the_sheet_ends_with_the_sum():
    sheet = table_of(Manifest([parcel("A", weight=300, height=2), parcel("B", weight=2000)]))

    assert sheet.splitlines()[-1] == "total" + " " * 12 + "11.30"


def test_the_sheet_of_nothing():
    assert table_of(Manifest()).split() == ["total", "0.00"]
