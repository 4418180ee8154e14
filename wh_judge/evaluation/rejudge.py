"""The judge of this program judging the same turns several times, so that its stability is measured and not claimed."""

import numpy as np
import pyarrow as pa

from wh_judge.evaluation.people import judged_by
from wh_judge.evaluation.profile import SEED
from wh_judge.evaluation.scores import judge_and_score
from wh_judge.rules import RuleSettings
from wh_judge.votes.rows import RULES

RUNS = 3


def judged_again(turns: pa.Table, cards: pa.Table, lexicon: pa.Table, settings: RuleSettings) -> pa.Table:
    """RUNS runs over whole sessions (TURN_SCHEMA), each with the turns and cards in another order; in JUDGED_SCHEMA."""
    generator = np.random.default_rng(SEED)
    runs = []
    for number in range(1, RUNS + 1):
        first, second = (table.take(pa.array(generator.permutation(table.num_rows))) for table in (turns, cards))
        scores = judge_and_score(first, second, lexicon, settings)
        runs.append(judged_by(scores, RULES, run=str(number)))
    return pa.concat_tables(runs)
