"""What each model is good at, on the screen."""

from wh_judge.evaluation.profile import measure_profiles
from wh_judge.store import evaluations
from wh_judge.store.snapshot import publish
from wh_judge_tests.evaluation.test_profile import table
from wh_judge_tests.house import House
from wh_judge_tests.screen.site import reader, seen


def test_each_two_models_can_be_chosen_whatever_blanks_their_names_have(house: House) -> None:
    models = ("a", "a b", "b c", "c", "c%20d")
    document = measure_profiles(table([(model, "A", "P-1", {"speech": 1.0}) for model in models]))
    with house.warehouse() as connection:
        evaluations.keep(connection, "capability_profiles", document, "run-1")
        publish(connection, house.settings.published, keep=3)
    with reader(house) as client:
        options = seen(client.get("/profiles")).all("option")
        values = {option["value"] for option in options}
        assert len(values) == len(document.differences) == 10
        for pair, option in zip(document.differences, options, strict=True):
            text = seen(client.get("/profiles", params={"pair": option["value"]})).text
            assert f"{pair.first}의 점수에서 {pair.second}의 점수를 뺀" in " ".join(text.split())
