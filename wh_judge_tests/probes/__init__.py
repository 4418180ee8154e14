"""Cards and a lexicon to make probe cases from."""

from wh_judge.model import CharacterCard
from wh_judge.probes.case import ProbeSet
from wh_judge.probes.make import make_probes
from wh_judge.rules import RuleSettings
from wh_judge_tests.builders import card, lexicon

CARDS: list[CharacterCard] = [
    card("C-1", canon_entities=["검술원", "하늘", "무명"]),
    card(
        "C-2",
        honorific_rule="존댓말",
        first_person="저",
        canon_entities=["서고", "나비"],
        entity_roles=[{"role": "고양이", "entity": "나비"}],
    ),
    card("C-3", honorific_rule=None, first_person=None, forbidden_topics=[], entity_roles=[]),
]
TERMS = lexicon(("축제", "행사"), ("선거", "현실 정치"), ("주사위", "도박"))
SETTINGS = RuleSettings()


def made(cases: int = 24, seed: int = 1, **options: object) -> ProbeSet:
    return make_probes(CARDS, TERMS, SETTINGS, cases=cases, seed=seed, **options)  # type: ignore[arg-type]
