from datetime import date

import pytest

from almanac import Calendar, Event, Template, read_event
from almanac.agenda import agenda
from almanac.notices import notices

TUESDAY = date(2024, 3, 5)


def planning(**more):
    return Event(**{"title": "Planning", "day": TUESDAY, "start": 570, "length": 60, **more})


def test_an_event_stands_on_its_day():
    assert [each.title for each in Calendar([planning()]).on(TUESDAY)] == ["Planning"]


def test_the_earlier_one_comes_first():
    book = Calendar([planning(), planning(title="Breakfast", start=480)])

    assert [each.title for each in book.on(TUESDAY)] == ["Breakfast", "Planning"]


def test_what_is_weekly_comes_again():
    book = Calendar([planning(repeats="weekly")])

    assert book.on(date(2024, 3, 19))
    assert not book.on(date(2024, 3, 20))


def test_what_is_daily_comes_every_day():
    assert Calendar([planning(repeats="daily")]).busy(date(2024, 4, 1)) == 60


def test_what_is_monthly_comes_on_its_day():
    assert Calendar([planning(repeats="monthly")]).on(date(2024, 6, 5))


def test_rent_on_the_last_of_a_short_month():
    book = Calendar([Event("Rent", date(2024, 1, 31), 600, 5, repeats="month's end")])

    assert book.on(date(2024, 2, 29))
    assert book.on(date(2024, 4, 30))


def test_the_thirty_first_is_not_in_every_month():
    book = Calendar([Event("Stocktaking", date(2024, 1, 31), 600, 5, repeats="monthly")])

    assert book.on(date(2024, 3, 31))
    assert not book.on(date(2024, 4, 30))


def test_what_overlaps_counts_once():
    book = Calendar([planning(), planning(title="Call", start=600, length=60)])

    assert book.busy(TUESDAY) == 90


def test_what_is_cancelled_takes_no_time():
    book = Calendar([planning(), planning(title="Call", start=700, length=30)])
    assert book.busy(TUESDAY) == 90

    book.remove("Call")

    assert book.busy(TUESDAY) == 60


def test_what_is_new_takes_time():
    book = Calendar([planning()])
    assert book.busy(TUESDAY) == 60

    book.add(planning(title="Call", start=700, length=30))

    assert book.busy(TUESDAY) == 90


def test_what_is_cancelled_at_once_was_never_there():
    book = Calendar([planning()])
    book.remove("Planning")

    assert book.on(TUESDAY) == []


def test_lessons_of_one_kind_are_tagged_one_by_one():
    lesson = Template("Lesson", 45, tags=["school"])
    first, second = lesson.event(TUESDAY, 480), lesson.event(TUESDAY, 540)

    first.tag("test")

    assert Calendar([first, second]).tagged(TUESDAY, "test") == ["Lesson"]


def test_lessons_have_the_length_of_their_kind():
    lesson = Template("Lesson", 45, tags=["school"]).event(TUESDAY, 480)

    assert (lesson.end, lesson.tags) == (525, ["school"])


def test_work_is_announced_a_quarter_of_an_hour_before():
    assert notices(Calendar([planning(tags=["work"])]), TUESDAY) == ["09:15 Planning"]


def test_what_has_no_tag_is_announced_when_it_starts():
    assert notices(Calendar([planning()]), TUESDAY) == ["09:30 Planning"]


def test_a_journey_is_announced_before_work():
    book = Calendar([planning(tags=["work"]), planning(title="Train", start=630, tags=["travel"])])

    assert notices(book, TUESDAY) == ["08:30 Train", "09:15 Planning"]


def test_a_week_on_paper():
    book = Calendar([planning(), planning(title="Call", day=date(2024, 3, 7), start=840, length=30)])

    assert agenda(book, date(2024, 3, 6)) == (
        "2024-03-05 (01:00)\n  09:30-10:30 Planning\n2024-03-07 (00:30)\n  14:00-14:30 Call"
    )


def test_a_line_is_an_event():
    found = read_event("2024-03-05 | 9:30 | 45 min | Planning #work")

    assert (found.title, found.start, found.length, found.tags) == ("Planning", 570, 45, ["work"])


def test_a_line_says_what_repeats():
    book = Calendar([read_event("2024-03-05 | 14 | 2 h | Club | weekly")])

    assert book.busy(date(2024, 3, 12)) == 120


def test_hours_and_minutes_in_one_line():
    book = Calendar([read_event("2024-03-05 | 9:30 | 1 h 30 min | Planning #work")])

    assert agenda(book, TUESDAY) == "2024-03-05 (01:30)\n  09:30-11:00 Planning"


@pytest.mark.parametrize("length", ["soon", "", "3 weeks"])
def test_a_length_nobody_understands(length):
    with pytest.raises(ValueError, match="duration"):
        read_event(f"2024-03-05 | 9:30 | {length} | Planning")


def test_a_time_that_does_not_exist():
    with pytest.raises(ValueError, match="25:00"):
        read_event("2024-03-05 | 25:00 | 1 h | Planning")
