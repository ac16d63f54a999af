import pytest

from freight import Manifest, quote, read
from freight.units import centimetres, grams

LINE = "A1; 1.2 kg; 30 cm; 20 cm; 10 cm; 10115"


def test_a_line_is_a_parcel():
    (found,) = read(LINE)

    assert (found.reference, found.weight, found.length, found.width, found.height) == ("A1", 1200, 30, 20, 10)


def test_blank_lines_and_comments_do_not_count():
    assert len(read(f"# sent today\n\n{LINE}\n")) == 1


def test_grams_and_metres_are_understood():
    (found,) = read("A1; 800 g; 1.3 m; 10 cm; 10 cm; 10115")

    assert quote(found).extras["bulk"] == 2500


def test_a_weight_nobody_understands_is_told_with_its_line():
    with pytest.raises(ValueError, match="line 2: weight"):
        read(f"{LINE}\nA2; heavy; 30 cm; 20 cm; 10 cm; 10115")


def test_a_size_nobody_understands_is_told_with_its_line():
    with pytest.raises(ValueError, match="line 1: size"):
        read("A1; 1 kg; 3 miles; 20 cm; 10 cm; 10115")


def test_a_cell_that_is_missing_is_told():
    with pytest.raises(ValueError, match="5 cells"):
        read("A1; 1 kg; 30 cm; 20 cm; 10115")


def test_a_file_becomes_what_is_sent():
    sent = Manifest(read(f"{LINE}\nA2; 0,4 kg; 20 cm; 10 cm; 5 cm; 80331"))

    assert (sent.weight(), sent.total()) == (1600, 705 + 530)


def test_quantities():
    assert (grams("0.5 kg"), centimetres("2 m"), grams("70 g")) == (500, 200, 70)


def test_a_wrong_unit():
    with pytest.raises(ValueError, match="'lb'"):
        grams("3 lb")
