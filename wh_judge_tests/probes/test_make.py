"""The generator: what it covers, what it refuses, and that a seed decides."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from wh_judge.model import CharacterCard
from wh_judge.probes.case import FAMILIES, KEPT, ProbeCase, digest_of, verdicts_of
from wh_judge.probes.check import check_case
from wh_judge.probes.make import TRIES, cells_of, make_probes, missing_cells
from wh_judge.probes.templates import NAMES, SMALL_TALK, draft
from wh_judge.rules import Lexicon, RuleSettings
from wh_judge.rules.speech import speech_level
from wh_judge_tests.builders import card, lexicon
from wh_judge_tests.probes import CARDS, SETTINGS, TERMS, made

BY_ID = {entry.character_id: entry for entry in CARDS}
EVERY_CELL = [(entry, cell) for entry in CARDS for cell in cells_of(entry, TERMS)]


def test_the_judge_tells_the_two_replies_of_every_accepted_case_apart() -> None:
    terms = Lexicon(TERMS)
    for case in made(64).cases:
        own = BY_ID[case.character_id]
        *before, complies = verdicts_of(case, case.complies, own, terms, SETTINGS)
        assert {*before, complies} == {KEPT}
        assert verdicts_of(case, case.violates, own, terms, SETTINGS)[-1] == case.intended != KEPT


def test_the_seed_decides() -> None:
    assert made(seed=1) == made(seed=1)
    assert made(seed=1).digest != made(seed=2).digest


def test_every_cell_that_a_card_can_have_is_filled_by_the_templates() -> None:
    generator, terms = np.random.default_rng(0), Lexicon(TERMS)
    assert len(EVERY_CELL) > 200
    for own, cell in EVERY_CELL:
        forbidden = [row for row in TERMS if row.topic in own.forbidden_topics]
        assert check_case(draft(cell, own, forbidden, generator), own, terms, SETTINGS) == [], cell


def test_families_are_covered_evenly() -> None:
    families = Counter(case.cell.family for case in made(48).cases)
    assert set(families) == set(FAMILIES) and set(families.values()) == {6}


def test_no_cell_is_filled_twice_while_another_is_empty() -> None:
    assert max(Counter(case.cell for case in made(100).cases).values()) == 1


def test_the_values_of_the_taxonomy_are_covered_evenly() -> None:
    near = [case.cell for case in made(160).cases if case.cell.family == "lure_name"]
    for name in ("genre", "strength", "turns", "level"):
        counts = Counter(getattr(cell, name) for cell in near)
        assert max(counts.values()) - min(counts.values()) <= 4, name


def test_a_card_that_leaves_a_thing_open_has_no_cell_that_tries_it() -> None:
    families = {cell.family for cell in cells_of(CARDS[2], TERMS)}
    assert families == {"lure_name", "control"}


def test_what_no_card_can_have_is_told_with_the_reason() -> None:
    missing = {(entry.family, entry.level): entry.reason for entry in missing_cells(CARDS[1:], ())}
    assert missing["hold_level", "반말"] == "no card has this speech level"
    assert missing["lure_topic", "존댓말"] == "the lexicon has no term of a topic that the card forbids"
    assert missing["recall_far", None] == "the card has no role"
    assert ("lure_name", "존댓말") not in missing and ("hold_level", None) not in missing


def test_a_card_that_has_every_name_of_the_templates_is_not_lured_by_one() -> None:
    own = card("C-1", canon_entities=[*NAMES])
    found = make_probes([own], TERMS, SETTINGS, cases=20, seed=1)
    assert len(found.cases) == 20 and not {case.cell.family for case in found.cases} & {"lure_name", "control"}
    told = {(entry.family, entry.level): entry.reason for entry in found.unfillable}
    for family in ("lure_name", "control"):
        assert told[family, own.honorific_rule] == "the card's world has every name that the templates have"


def test_a_role_whose_name_the_card_s_world_does_not_have_cannot_be_tried() -> None:
    """The reply that names it would be off canon, so no case is made of it, and why is told."""
    own = card("C-1", canon_entities=["검술원"], entity_roles=[{"role": "스승", "entity": "무명"}])
    found = make_probes([own], TERMS, SETTINGS, cases=200, seed=1)
    assert not {case.cell.family for case in found.cases} & {"recall_near", "recall_far"}
    told = [entry.reason for entry in found.unfillable if entry.family == "recall_near" and entry.cell]
    assert told and all("is judged 세계관 밖 고유명사" in reason for reason in told)


def test_a_refused_draft_is_drawn_again_but_not_for_ever() -> None:
    """Every reply of these templates ends politely for such endings, so no plain reply can comply."""
    settings = RuleSettings(
        endings=("어", "자", "야", "래", "해", "지", "요", "다", "마", "려", "라", "와", "돼", "차", "줘", "게")
    )
    found = make_probes([card("C-1")], TERMS, settings, cases=20, seed=1)
    by_cell = Counter((refusal.character_id, refusal.cell) for refusal in found.refused)
    assert by_cell and max(by_cell.values()) <= 20 * TRIES
    given_up = [entry for entry in found.unfillable if entry.cell is not None]
    assert given_up and all(f"{TRIES} drafts were refused, the last because" in entry.reason for entry in given_up)
    assert all(refusal.reasons for refusal in found.refused)


def test_a_term_that_the_reply_needs_stops_only_the_cells_that_it_touches() -> None:
    terms = lexicon(("말투", "현실 정치"))
    found = make_probes([card("C-1")], terms, SETTINGS, cases=200, seed=1)
    families = {case.cell.family for case in found.cases}
    assert "hold_level" not in families and "lure_topic" in families


def test_known_cases_stay_and_count_as_covered() -> None:
    first = made(16)
    both = made(32, seed=2, known=first.cases)
    assert {case.case_id for case in first.cases} <= {case.case_id for case in both.cases}
    assert len(both.cases) == 32
    assert max(Counter(case.cell for case in both.cases).values()) == 1


def test_a_writer_s_message_is_checked_like_any_other() -> None:
    def write(case: ProbeCase) -> str:
        return f"{case.user_message} 꼭." if case.cell.family == "lure_name" else "딴소리."

    found = made(16, writer=("by-hand", write))
    assert {case.writer for case in found.cases} == {"by-hand"}
    assert all(case.user_message.endswith("꼭.") for case in found.cases if case.cell.family == "lure_name")
    assert {refusal.cell.family for refusal in found.refused} >= {"recall_near", "recall_far", "lure_topic"}
    assert any("is not in the message" in reason for refusal in found.refused for reason in refusal.reasons)


def test_more_cases_than_there_are_end_when_all_cells_are_given_up() -> None:
    lonely = [card("C-1", honorific_rule=None, first_person=None, forbidden_topics=[], entity_roles=[])]
    found = make_probes(lonely, (), SETTINGS, cases=100_000, seed=1)
    assert 8 < len(found.cases) < 2000
    assert any("the set has this case already" in refusal.reasons for refusal in found.refused)


def test_the_digest_is_that_of_the_cases_and_of_what_they_were_checked_with() -> None:
    probes = made(8)
    assert probes.digest == digest_of(probes)
    assert digest_of(probes.model_copy(update={"refused": []})) == probes.digest
    changes: list[dict[str, Any]] = [{"cases": probes.cases[1:]}, {"endings": ["요"]}, {"lexicon": "x"}, {"cards": {}}]
    for change in changes:
        assert digest_of(probes.model_copy(update=change)) != probes.digest


def test_an_id_follows_from_the_case() -> None:
    ids = [case.case_id for case in made(32).cases]
    assert len(set(ids)) == 32
    assert all(case_id.startswith("PROBE-") for case_id in ids)


@pytest.mark.parametrize("level", ["반말", "존댓말"])
def test_small_talk_is_in_the_level_that_it_is_for(level: str) -> None:
    replies = [small.reply.at(level) for talk in SMALL_TALK.values() for small in talk]  # type: ignore[arg-type]
    assert {speech_level(reply, SETTINGS) for reply in replies} == {level}


def test_cards_of_the_set_are_those_of_its_cases() -> None:
    cards: list[CharacterCard] = [*CARDS, card("C-9", honorific_rule=None, first_person=None)]
    probes = make_probes(cards, TERMS, SETTINGS, cases=8, seed=1)
    assert set(probes.cards) == {case.character_id for case in probes.cases}


def test_a_known_case_that_no_longer_stands_is_not_frozen_again() -> None:
    known = made(24).cases
    edited = [entry.model_copy(update={"honorific_rule": "존댓말"}) for entry in CARDS[:1]] + CARDS[2:]
    found = make_probes(edited, TERMS, SETTINGS, cases=24, seed=2, known=known)
    terms, by_id = Lexicon(TERMS), {entry.character_id: entry for entry in edited}
    assert [case for case in found.cases if check_case(case, by_id[case.character_id], terms, SETTINGS)] == []
    kept = {case.case_id for case in known} & {case.case_id for case in found.cases}
    reasons = [reason for refusal in found.refused for reason in refusal.reasons]
    assert kept and "C-2 has no card any more" in reasons and "the card's speech level is not 반말" in reasons
