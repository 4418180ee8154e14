"""Names that are meant for a canon name: with a particle, as a part, in another spelling."""

import pytest

from wh_judge.review.names import closest_names, stripped

CANON = ["하늘", "윤세진 박사", "리코", "유진", "검술원", "은월산"]


@pytest.mark.parametrize(
    ("name", "closest", "how"),
    [
        ("하늘이", "하늘", "particle"),
        ("하늘은", "하늘", "particle"),
        ("하늘이는", "하늘", "particle"),
        ("하늘에게는", "하늘", "particle"),
        ("유진 씨", "유진", "particle"),
        ("유진님", "유진", "particle"),
        ("리코야아", "리코", "particle"),
        ("윤세진", "윤세진 박사", "particle"),
        ("검술원 별관", "검술원", "part"),
        ("은월", "은월산", "part"),
        ("리고", "리코", "spelling"),
        ("은월싼", "은월산", "spelling"),
    ],
)
def test_the_canon_name_that_is_meant_is_proposed(name: str, closest: str, how: str) -> None:
    found = closest_names(name, CANON)
    assert (found[0].name, found[0].how) == (closest, how)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("유진 씨", "끝의 「씨」만 다릅니다"),
        ("윤세진", "끝의 「박사」만 다릅니다"),
        ("은월", "한쪽이 다른 쪽에 들어 있습니다"),
        ("리고", "철자가 비슷합니다(자모의 75%가 같음)"),
        ("카이는", "캐릭터 자신의 이름이고, 끝의 「는」만 다릅니다"),
        ("카이", "캐릭터 자신의 이름입니다"),
    ],
)
def test_why_a_name_is_close_is_told(name: str, why: str) -> None:
    assert closest_names(name, CANON, "카이")[0].why == why


@pytest.mark.parametrize("name", ["카이", "카이는"])
def test_the_character_s_own_name_stands_first(name: str) -> None:
    first, *_ = closest_names(name, [*CANON, "카이로"], "카이")
    assert (first.name, first.how) == ("카이", "own")
    assert closest_names("나루", CANON, "카이") == []


@pytest.mark.parametrize("name", ["백운선생", "카이", "X", "이", "가"])
def test_a_new_name_is_like_no_other(name: str) -> None:
    assert closest_names(name, CANON) == []


def test_a_name_never_loses_all_of_itself() -> None:
    assert stripped("이") == [] and "" not in stripped("이가")


def test_the_closest_stand_first_and_not_too_many() -> None:
    found = closest_names("하늘이", ["하늘이네", "하늬", "하늘", "하을", "하늘섬"], most=2)
    assert [close.how for close in found] == ["particle", "part"] and found[0].name == "하늘"
    assert all(0 <= close.likeness <= 1 for close in found)


def test_of_a_name_without_end_the_beginning_is_compared() -> None:
    [close] = closest_names("가" * 200 + "나" * 100_000, ["가" * 200 + "다" * 100_000, "라" * 100_000])
    assert (close.name[0], close.how, close.likeness) == ("가", "spelling", 1.0)
