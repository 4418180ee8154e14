"""Reading ahead."""

import threading
from collections.abc import Iterator

import pytest

from wh_judge.ahead import reading_ahead


def test_all_comes_in_its_order() -> None:
    with reading_ahead(iter(range(100))) as numbers:
        assert list(numbers) == list(range(100))


def test_the_next_is_read_while_one_is_worked_on_and_no_more() -> None:
    read: list[int] = []
    second_read = threading.Event()

    def source() -> Iterator[int]:
        for number in range(5):
            read.append(number)
            if number == 1:
                second_read.set()
            yield number

    with reading_ahead(source()) as numbers:
        assert next(numbers) == 0
        assert second_read.wait(10)
    assert read == [0, 1]


def test_the_first_is_read_before_anyone_asks() -> None:
    read = threading.Event()

    def source() -> Iterator[int]:
        read.set()
        yield 1

    with reading_ahead(source()):
        assert read.wait(10)


def test_what_the_source_raises_is_raised_after_what_came_before_it() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise ValueError("damaged")

    got = []
    with pytest.raises(ValueError, match="damaged"), reading_ahead(source()) as numbers:
        got.append(next(numbers))
        next(numbers)
    assert got == [1]


def test_the_thread_has_ended_when_the_block_is_left_with_an_error() -> None:
    before = threading.active_count()
    with pytest.raises(KeyError), reading_ahead(iter([1, 2, 3])) as numbers:
        next(numbers)
        raise KeyError
    assert threading.active_count() == before
