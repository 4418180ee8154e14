"""Blind votes and ratings on the screen."""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pydantic import BaseModel
from starlette.testclient import TestClient

from wh_judge.evaluation.bradley_terry import Tally
from wh_judge.evaluation.pairing import candidates
from wh_judge.evaluation.people import JUDGED_SCHEMA, Share, UnplacedScores, VoteAgreement, measure_vote_agreement
from wh_judge.evaluation.ratings import rate, rate_arena
from wh_judge.evaluation.support import tally
from wh_judge.model import ChatTurn
from wh_judge.screen.arena import BEFORE, CHOICES, NAME_LIMIT
from wh_judge.store import evaluations
from wh_judge.store.snapshot import publish
from wh_judge.store.votes import bring_in_people, journal_votes, read_answers, replies_as_seen
from wh_judge.votes.rows import VOTE_SCHEMA, Vote
from wh_judge_tests.builders import turn
from wh_judge_tests.house import CARDS, DAY_1, LEXICON, House, at
from wh_judge_tests.screen.site import Seen, reader, seen
from wh_judge_tests.votes import vote as cast

HERE = {"origin": "http://127.0.0.1"}


@pytest.fixture
def voter(house: House) -> Iterator[TestClient]:
    with reader(house) as found:
        yield found


def pair(client: TestClient, by: str = "가") -> Seen:
    return seen(client.get("/arena", params={"by": by}))


def offer_of(page: Seen) -> str:
    [field] = page.all("input", name="offer")
    return field["value"]


def vote(client: TestClient, choice: str = "left", by: str = "가") -> Vote:
    """A vote on the next pair, as it stands in the journal."""
    offer = offer_of(pair(client, by))
    answer = client.post("/arena", data={"offer": offer, "choice": choice}, headers=HERE)
    assert answer.status_code == 303
    settings = client.app.state.settings  # type: ignore[attr-defined]
    return journal_votes(settings)[-1]


def test_without_a_name_there_is_no_pair(client: TestClient) -> None:
    page = seen(client.get("/arena"))
    assert page.all("input", name="by") and not page.all("input", name="offer")


def test_the_models_stand_nowhere_on_the_page(voter: TestClient, house: House) -> None:
    with house.warehouse() as connection:
        models = {model for answers in read_answers(connection).values() for model in answers}
    html = voter.get("/arena", params={"by": "가"}).text
    assert models and not [model for model in models if model in html]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_vote_says_what_was_chosen_and_which_side_was_which(choice: str, voter: TestClient) -> None:
    found = vote(voter, choice)
    other = {"model_a": "model_b", "model_b": "model_a"}
    assert found.shown_left is not None
    wanted = {"left": found.shown_left, "right": other[found.shown_left]}.get(choice, choice)
    assert (found.winner, found.annotator, found.source) == (wanted, "가", "screen")
    assert found.case_id and found.voted_at and found.model_a < found.model_b


def test_what_was_shown_on_the_left_is_what_the_vote_says(voter: TestClient, house: House) -> None:
    page = pair(voter)
    with house.warehouse() as connection:
        answers = read_answers(connection)
    voter.post("/arena", data={"offer": offer_of(page), "choice": "left"}, headers=HERE)
    [found] = journal_votes(house.settings)
    assert found.case_id
    left = found.model_a if found.shown_left == "model_a" else found.model_b
    right = found.model_b if left == found.model_a else found.model_a
    text = page.text
    assert text.index(answers[found.case_id][left].reply_text) < text.rindex(answers[found.case_id][right].reply_text)


def test_a_form_that_is_sent_twice_is_one_vote(voter: TestClient, house: House) -> None:
    form = {"offer": offer_of(pair(voter)), "choice": "tie"}
    assert voter.post("/arena", data=form, headers=HERE).status_code == 303
    assert "이미 고른 쌍" in seen(voter.post("/arena", data=form, headers=HERE), 409).text
    assert len(journal_votes(house.settings)) == 1


def test_one_voter_in_two_windows_votes_on_a_pair_once(voter: TestClient, house: House) -> None:
    offers = [offer_of(pair(voter)) for _ in range(40)]
    answers = [
        voter.post("/arena", data={"offer": offer, "choice": "left"}, headers=HERE).status_code for offer in offers
    ]
    votes = journal_votes(house.settings)
    assert set(answers) == {303, 409}
    assert len({(vote.case_id, vote.model_a, vote.model_b) for vote in votes}) == len(votes) == answers.count(303)


def test_two_voters_may_vote_on_one_pair_at_once(voter: TestClient, house: House) -> None:
    offers = [offer_of(pair(voter, by)) for by in ("가", "나") for _ in range(40)]
    for offer in offers:
        voter.post("/arena", data={"offer": offer, "choice": "tie"}, headers=HERE)
    by_voter = [[vote for vote in journal_votes(house.settings) if vote.annotator == by] for by in ("가", "나")]
    assert [len(votes) > 0 for votes in by_voter] == [True, True]
    pairs = [{(vote.case_id, vote.model_a, vote.model_b) for vote in votes} for votes in by_voter]
    assert pairs[0] & pairs[1]


def test_a_name_in_another_normal_form_is_the_same_voter(voter: TestClient) -> None:
    while pair(voter, "하늘").all("input", name="offer"):
        vote(voter, by="하늘")
    assert "모두 골랐습니다" in pair(voter, unicodedata.normalize("NFD", "하늘")).text


def test_a_vote_that_cannot_be_kept_can_be_given_again(voter: TestClient, house: House) -> None:
    house.settings.votes.parent.mkdir(parents=True, exist_ok=True)
    house.settings.votes.write_text("no folder")
    form = {"offer": offer_of(pair(voter)), "choice": "left"}
    assert voter.post("/arena", data=form, headers=HERE).status_code == 503
    house.settings.votes.unlink()
    assert voter.post("/arena", data=form, headers=HERE).status_code == 303
    assert len(journal_votes(house.settings)) == 1


@pytest.mark.parametrize("choice", ["", "model_a", "<b>"])
def test_what_is_no_choice_is_no_vote(choice: str, voter: TestClient, house: House) -> None:
    form = {"offer": offer_of(pair(voter)), "choice": choice}
    assert voter.post("/arena", data=form, headers=HERE).status_code == 400
    assert journal_votes(house.settings) == []


def test_a_vote_from_another_site_is_refused(voter: TestClient, house: House) -> None:
    form = {"offer": offer_of(pair(voter)), "choice": "left"}
    assert voter.post("/arena", data=form, headers={"origin": "http://evil.example"}).status_code == 403
    assert journal_votes(house.settings) == []


def test_nobody_is_shown_a_pair_again_until_all_are_done(voter: TestClient) -> None:
    voted = set()
    while pair(voter).all("input", name="offer"):
        found = vote(voter)
        voted.add((found.case_id, found.model_a, found.model_b))
    assert "모두 골랐습니다" in pair(voter).text
    assert len(voted) == len(journal_votes(voter.app.state.settings))  # type: ignore[attr-defined]
    assert pair(voter, "나").all("input", name="offer")


def test_votes_that_came_with_the_inputs_count_too(house: House) -> None:
    with house.warehouse() as connection:
        [(case, models), *others] = candidates(replies_as_seen(read_answers(connection)))
        own = cast(case_id=case, model_a=models[1], model_b=models[0], annotator="가").model_dump(mode="json")
        (house.inputs / "votes.jsonl").write_text(json.dumps(own), encoding="utf-8")
        bring_in_people(connection, house.settings)
        publish(connection, house.settings.published, keep=3)
    with reader(house) as client:
        assert "가 · 1표" in pair(client).text
        offered = [vote(client) for _ in others]
        assert (case, *models) not in {(found.case_id, found.model_a, found.model_b) for found in offered}
        assert "모두 골랐습니다" in pair(client).text


def test_a_hostile_name_is_cut_and_only_text(voter: TestClient) -> None:
    page = pair(voter, "<script>" * 40)
    assert len(page.all("script")) == 1 and ("<script>" * 40)[:NAME_LIMIT] in page.text


def arena(root: Path, *turns: ChatTurn) -> Seen:
    """The page of a log of one day."""
    house = House(root)
    house.cards(CARDS[0].model_copy(update={"canon_entities": ["검술원"], "forbidden_topics": ["도박"]}))
    house.lexicon(*LEXICON)
    house.log("log", *turns)
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAY_1)
        publish(connection, house.settings.published, keep=1)
    with reader(house) as client:
        return pair(client)


def talk(session: str, first: int, *said: str, model: str, reply: str) -> list[ChatTurn]:
    """A conversation of turns from T-first on, and then a reply to the prompt P-1."""
    before = [
        turn(f"T-{number}", turn_at=at(1), session_id=session, model_id=model, user_message=text, reply_text="응.")
        for number, text in enumerate(said, first)
    ]
    last = turn(f"T-{first + len(said)}", turn_at=at(1), session_id=session, model_id=model, prompt_id="P-1")
    return [*before, last.model_copy(update={"reply_text": reply})]


def test_what_the_voter_needs_to_know_of_the_card_is_there(tmp_path: Path) -> None:
    page = arena(tmp_path, *talk("S-1", 1, model="M-1", reply="가"), *talk("S-2", 5, model="M-2", reply="나"))
    for fact in ("반말", "1인칭", "검술원", "도박"):
        assert fact in page.text
    assert "앞선 대화가 없습니다" in page.text


def test_a_conversation_that_both_share_is_shown_once_and_in_order(tmp_path: Path) -> None:
    said = ("첫마디", "둘째 마디")
    page = arena(
        tmp_path, *talk("S-1", 1, *said, model="M-1", reply="가"), *talk("S-2", 11, *said, model="M-2", reply="나")
    )
    assert page.text.count("앞선 대화 2회차") == page.text.count("첫마디") == 1
    assert page.text.index("첫마디") < page.text.index("둘째 마디") < page.text.index("유저가 한 말")


def test_conversations_that_differ_stand_each_at_its_side(tmp_path: Path) -> None:
    page = arena(
        tmp_path, *talk("S-1", 1, "갑", model="M-1", reply="가"), *talk("S-2", 11, "을", model="M-2", reply="나")
    )
    assert "저마다 다른 대화" in page.text and page.text.count("앞선 대화 1회차") == 2


def test_messages_that_differ_stand_each_at_its_side(tmp_path: Path) -> None:
    first, second = talk("S-1", 1, model="M-1", reply="가") + talk("S-2", 11, model="M-2", reply="나")
    asked = [first.model_copy(update={"user_message": "이것?"}), second.model_copy(update={"user_message": "저것?"})]
    page = arena(tmp_path, *asked)
    assert "저마다 다른 말에 답했습니다" in page.text
    for message, reply in (("이것?", "가"), ("저것?", "나")):
        assert re.search(rf"(왼쪽|오른쪽)\s*{re.escape(message)}\s*{reply}\s", page.text), page.text


def test_a_message_that_both_share_is_shown_once(tmp_path: Path) -> None:
    turns = talk("S-1", 1, model="M-1", reply="가") + talk("S-2", 11, model="M-2", reply="나")
    page = arena(tmp_path, *(entry.model_copy(update={"user_message": "이것?"}) for entry in turns))
    assert page.text.count("이것?") == 1 and "저마다 다른 말" not in page.text


def test_of_a_long_conversation_the_end_is_shown(tmp_path: Path) -> None:
    said = [f"<{number}>" for number in range(BEFORE + 2)]
    page = arena(tmp_path, *talk("S-1", 1, *said, model="M-1", reply="가"), *talk("S-2", 50, model="M-2", reply="나"))
    assert f"앞선 대화 {BEFORE + 2}회차, 그 가운데 끝의 {BEFORE}회차" in page.text
    assert "<1>" not in page.text and "<2>" in page.text and f"<{BEFORE + 1}>" in page.text


@pytest.mark.parametrize("other", ["같다.", " 같다.\n", "같다\u200b.", unicodedata.normalize("NFD", "같다.")])
def test_two_replies_that_look_the_same_are_not_offered(other: str, tmp_path: Path) -> None:
    page = arena(tmp_path, *talk("S-1", 1, model="M-1", reply="같다."), *talk("S-2", 5, model="M-2", reply=other))
    assert not page.all("input", name="offer")
    assert "답장이 모두 같은 프롬프트가 1개 있습니다" in page.text


def test_before_the_runner_has_run_the_ratings_are_blank(client: TestClient) -> None:
    assert "비어 있습니다" in seen(client.get("/ratings")).text


def ratings(house: House, **documents: BaseModel) -> str:
    """The page of ratings where the evaluations left these documents."""
    with house.warehouse() as connection:
        for name, document in documents.items():
            evaluations.keep(connection, name, document, "run-rated")  # type: ignore[arg-type]
        publish(connection, house.settings.published, keep=3)
    with reader(house) as client:
        return " ".join(seen(client.get("/ratings")).text.split())


def test_models_that_no_votes_connect_have_no_common_scale(house: House) -> None:
    text = ratings(house, arena_ratings=rate_arena([Tally("가", "나", 3, 0, 0, 0)], [], {"screen": 3}))
    assert "공통 눈금이 없습니다" in text and "run-rated" in text
    assert "–––" not in text


def test_with_support_alone_it_says_that_nobody_voted_and_shows_what_there_is(house: House) -> None:
    text = ratings(house, arena_ratings=rate_arena([], [Tally("가", "나", 2, 1, 0, 0)], {}))
    assert "사람의 표는 아직 없습니다" in text and "견줌 3건만 있습니다" in text
    assert "모델이 할 수 있는 일만으로 보면" in text and "가" in text
    assert "비어 있습니다. 아직 표가 없습니다" not in text


def agreed(*annotators: str, runs: str = "1", unplaced: Sequence[UnplacedScores] = ()) -> VoteAgreement:
    """Votes of these on two cases, and a judge that was run so often."""
    votes = [cast(f"{case}/{who}", case_id=case, annotator=who) for case in ("P-1", "P-2") for who in annotators]
    rows = [
        {"judge": "J", "run": run, "case_id": case, "model_id": model, "score": float(model == "M-1")}
        for run in runs
        for case in ("P-1", "P-2")
        for model in ("M-1", "M-2")
    ]
    table = pa.Table.from_pylist([entry.model_dump() for entry in votes], VOTE_SCHEMA)
    return measure_vote_agreement(table, pa.Table.from_pylist(rows, JUDGED_SCHEMA), rate(tally(votes)), unplaced)


def test_each_two_annotators_stand_with_their_kappa(house: House) -> None:
    text = ratings(house, vote_agreement=agreed("가람", "나래"))
    assert "코언의 카파 가람 · 나래22알 수 없음" in text


def test_of_one_run_it_is_said_that_nothing_is_known_of_its_stability(house: House) -> None:
    text = ratings(house, vote_agreement=agreed("가람"))
    assert "J14알 수 없음알 수 없음 한 번만 돌렸습니다" in text


def test_of_two_runs_the_spread_is_shown(house: House) -> None:
    text = ratings(house, vote_agreement=agreed("가람", runs="12"))
    assert "J240.00알 수 없음" in text


def test_the_brier_score_stands_with_its_interval(house: House) -> None:
    document = agreed("가람")
    judge = document.judges[0].model_copy(update={"brier": Share(value=0.2, low=0.1, high=0.3, votes=2)})
    text = ratings(house, vote_agreement=document.model_copy(update={"judges": [judge]}))
    assert "0.20 0.10 ~ 0.30 반반이면 0.25" in text


def test_no_minus_touches_the_dash_of_an_interval(house: House) -> None:
    document = agreed("가람", "나래")
    people = document.labellers.model_copy(update={"alpha": -0.3, "low": -0.5, "high": -0.14})
    rated = rate_arena([Tally("가", "나", 1, 1, 0, 0)], [], {"screen": 2})
    [first, second] = rated.people.ratings
    far = rated.people.model_copy(update={"ratings": [first.model_copy(update={"low": -90.0, "high": -8.0}), second]})
    text = ratings(
        house,
        vote_agreement=document.model_copy(update={"labellers": people}),
        arena_ratings=rated.model_copy(update={"people": far}),
    )
    assert "-0.30입니다(-0.50 ~ -0.14)" in text and "-90 ~ -8" in text
    assert "–-" not in text


def test_rows_on_unknown_turns_are_told_and_hostile_names_are_text(house: House) -> None:
    left = UnplacedScores(
        judge="<b>J" * 5_000,
        unknown=3,
        unknown_turns=["T-900", "<script>"],
        without_prompt=2,
        turns_without_prompt=["T-2"],
    )
    text = ratings(house, vote_agreement=agreed("<i>" * 4_000, "나", unplaced=[left]))
    assert "로그에 없는 회차를 말하는 줄 3개(T-900, <script> 등)" in text
    assert "prompt_id가 없는 회차를 말하는 줄 2개(T-2 등)" in text
    assert "<b>J" * 100 not in text and "<i>" * 100 not in text


def test_long_names_of_models_do_not_flood_the_page(house: House) -> None:
    one, other = "<b>" * 3_000, "m" * 10_000
    assert len(ratings(house, arena_ratings=rate_arena([Tally(one, other, 3, 0, 0, 0)], [], {"s" * 10_000: 3}))) < 4_000


def test_rank_correlations_stand_with_their_p_and_what_so_few_models_bear(house: House) -> None:
    votes = [
        cast(f"{a}{b}{n}", winner=winner, model_a=a, model_b=b)
        for a, b in ("ab", "bc", "ac")
        for n, winner in enumerate(("model_a", "model_a", "model_b"))
    ]
    table = pa.Table.from_pylist([entry.model_dump() for entry in votes], VOTE_SCHEMA)
    rows = [
        {"judge": "J", "run": "1", "case_id": votes[0].case_id, "model_id": model, "score": score}
        for model, score in (("a", 1.0), ("b", 0.5), ("c", 0.0))
    ]
    judged = pa.Table.from_pylist(rows, JUDGED_SCHEMA)
    text = ratings(house, vote_agreement=measure_vote_agreement(table, judged, rate(tally(votes))))
    assert "ρ 1.00 p = 0.33 τ 1.00 p = 0.33 모델 3개, 우연과 가를 수 없음" in text
    assert "모델이 3개면 순서가 6가지뿐이라" in text
