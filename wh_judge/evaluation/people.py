"""Judges beside people's votes: does a judge prefer the replies that people prefer, and the models?

Every judge gives each reply a score; between two replies it prefers the one with the higher score and is drawn where
they are equal. Source of the measures: HarnessEval-W (rank correlation with Bradley-Terry ratings, pairwise accuracy,
draw rate, Brier score).
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.evaluation.agreement import Figures, turn_order
from wh_judge.evaluation.labellers import LabellerAgreement, measure_labellers
from wh_judge.evaluation.profile import RESAMPLES, SEED, few_models, percentiles
from wh_judge.evaluation.ranks import RankAgreement, rank_agreement
from wh_judge.evaluation.ratings import Ratings
from wh_judge.evaluation.stability import Stability, measure_stability
from wh_judge.text import short
from wh_judge.votes.rows import RULES, RULES_KEPT, SYNTHETIC_SOURCE

FOLDS = 5

JUDGED_SCHEMA = pa.schema(
    [
        *(pa.field(n, pa.string(), nullable=False) for n in ("judge", "run", "case_id", "model_id")),
        ("score", pa.float64()),
    ]
)
"""What judges say of replies: one row per judge, run, prompt and model, with a score from 0 to 1."""


class Share(Figures):
    """A mean over votes with its interval over cases."""

    value: float | None
    low: float | None
    high: float | None
    """95 % percentile interval from a bootstrap of cases, since votes on one case are not independent."""
    votes: int
    """The votes that it rests on."""


class JudgeAgreement(Figures):
    """One judge in its first run."""

    judge: str
    votes: int
    """Votes on whose two replies the judge has a score."""
    accuracy: Share
    """Of the votes with a winner, those in which the judge prefers it; a draw is wrong."""
    accuracy_when_decided: Share
    """The same without the votes on which the judge is drawn."""
    draw_rate: Share
    """Of all votes, those on which the judge is drawn."""
    brier: Share
    """Mean squared distance of the judge's probability from the vote (1, 0, or 1/2 where there is no winner)."""
    brier_of_one_half: float | None
    """What always saying one half would get: a judge above it knows less than nothing."""
    slope: float | None
    """Log-odds of a win per point of score difference, fitted on all votes; for the Brier score on other votes."""
    ranks: RankAgreement


EXAMPLES = 5


class UnplacedScores(Figures):
    """Rows of another judge that say nothing of a reply to a prompt, and so can be set beside no vote."""

    judge: str
    unknown: int
    """Rows whose turn the log does not have."""
    unknown_turns: list[str]
    """The first EXAMPLES of these turns, in turn order."""
    without_prompt: int
    """Rows whose turn has no prompt_id."""
    turns_without_prompt: list[str]

    def told(self) -> str:
        """The same in words, cut where it quotes."""
        parts = [
            f"{rows} row{'s' * (rows != 1)} {what}, such as {', '.join(map(short, turns))}"
            for rows, what, turns in (
                (self.unknown, "on turns that the log does not have", self.unknown_turns),
                (self.without_prompt, "on turns without a prompt_id", self.turns_without_prompt),
            )
            if rows
        ]
        return f"{short(self.judge)}: left out {'; '.join(parts)}"


class VoteAgreement(Figures):
    """All judges, how stable they are, and how far the people themselves agree."""

    votes: int
    without_case: int
    """Votes that name no case; they count for ratings only."""
    judges: list[JudgeAgreement]
    stability: list[Stability]
    labellers: LabellerAgreement
    unplaced: list[UnplacedScores]
    """By judge, only those that have any."""
    cautions: list[str]


def measure_vote_agreement(
    votes: pa.Table, judged: pa.Table, ratings: Ratings, unplaced: Sequence[UnplacedScores] = ()
) -> VoteAgreement:
    """All judges in `judged` (JUDGED_SCHEMA) beside the votes (VOTE_SCHEMA) and the ratings by them.

    `unplaced` are the rows of other judges that could not be put there.
    """
    judges = []
    for judge, run in _first_runs(judged):
        rows, scores = _on_votes(votes, judged, judge, run)
        judges.append(_agreement(judge, rows, scores, ratings))
    labellers = measure_labellers(votes)
    synthetic = pc.sum(pc.equal(votes["source"], SYNTHETIC_SOURCE)).as_py() or 0
    return VoteAgreement(
        votes=votes.num_rows,
        without_case=votes["case_id"].null_count,
        judges=judges,
        stability=measure_stability(judged, ratings),
        labellers=labellers,
        unplaced=list(unplaced),
        cautions=_cautions(votes.num_rows, synthetic, judges, ratings, labellers),
    )


def judged_by(scores: pa.Table, judge: str, column: str = "score", run: str = "1") -> pa.Table:
    """A judge's rows (JUDGED_SCHEMA) from turns (SCORE_SCHEMA): the mean over the turns that answered a prompt."""
    import duckdb

    with duckdb.connect() as con:
        con.register("scores", scores)
        found = con.sql(
            f"""SELECT $judge AS judge, $run AS run, prompt_id AS case_id, model_id,
                       avg({column}::DOUBLE ORDER BY {column}) AS score
                FROM scores WHERE prompt_id IS NOT NULL AND {column} IS NOT NULL GROUP BY ALL ORDER BY ALL""",
            params={"judge": judge, "run": run},
        ).to_arrow_table()
    return found.cast(JUDGED_SCHEMA)


def _first_runs(judged: pa.Table) -> list[tuple[str, str]]:
    """The first run of each judge, this program's first, then by name."""
    runs: dict[str, str] = {}
    for judge, run in zip(judged["judge"].to_pylist(), judged["run"].to_pylist(), strict=True):
        runs[judge] = min(run, runs.get(judge, run), key=turn_order)
    return sorted(runs.items(), key=lambda item: (item[0] not in (RULES, RULES_KEPT), item[0]))


_ON_VOTES = """
SELECT vote.case_id, round(a.score - b.score, 9) AS difference,
       CASE winner WHEN 'model_a' THEN 1.0 WHEN 'model_b' THEN 0.0 ELSE 0.5 END AS outcome, count(*)::DOUBLE AS votes
FROM vote JOIN one AS a ON a.case_id = vote.case_id AND a.model_id = vote.model_a
          JOIN one AS b ON b.case_id = vote.case_id AND b.model_id = vote.model_b
GROUP BY ALL ORDER BY ALL
"""
"""Rounded, so that two means of the same scores in another order are a draw."""


class _Rows:
    """Votes on which a judge has scores, equal ones together."""

    def __init__(self, rows: Sequence[tuple[str, float, float, float]]) -> None:
        cases = sorted({case for case, *_ in rows})
        place = {case: number for number, case in enumerate(cases)}
        self.cases = len(cases)
        self.case = np.array([place[case] for case, *_ in rows], np.int64)
        self.difference, self.outcome, self.votes = (
            np.array([row[column] for row in rows], np.float64) for column in (1, 2, 3)
        )

    def share(self, good: np.ndarray, counted: np.ndarray) -> Share:
        """The mean of `good` over the votes that count, with its interval over cases."""
        top = np.bincount(self.case, self.votes * good * counted, self.cases)
        bottom = np.bincount(self.case, self.votes * counted, self.cases)
        votes = int(bottom.sum())
        if not votes:
            return Share(value=None, low=None, high=None, votes=0)
        low = high = None
        if np.count_nonzero(bottom) >= 2:
            generator = np.random.default_rng(SEED)
            sample = []
            for _ in range(RESAMPLES):
                drawn = np.bincount(generator.integers(self.cases, size=self.cases), minlength=self.cases)
                if below := drawn @ bottom:
                    sample.append(drawn @ top / below)
            low, high = percentiles(np.array(sample))
        return Share(value=float(top.sum() / votes), low=low, high=high, votes=votes)


def _on_votes(votes: pa.Table, judged: pa.Table, judge: str, run: str) -> tuple[_Rows, dict[str, float]]:
    """The judge's votes, and its mean score of each model on the voted cases."""
    import duckdb

    with duckdb.connect() as con:
        con.register("vote", votes.select(["case_id", "model_a", "model_b", "winner"]))
        con.register("judged", judged)
        con.execute("CREATE TEMP TABLE one AS SELECT * FROM judged WHERE judge = ? AND run = ?", [judge, run])
        rows = con.execute(_ON_VOTES).fetchall()
        means = con.execute(
            """SELECT model_id, avg(score ORDER BY score) FROM one SEMI JOIN vote USING (case_id)
               WHERE score IS NOT NULL GROUP BY 1 ORDER BY 1"""
        ).fetchall()
    return _Rows(rows), dict(means)


def _agreement(judge: str, rows: _Rows, scores: dict[str, float], ratings: Ratings) -> JudgeAgreement:
    decided, drawn = rows.outcome != 0.5, rows.difference == 0
    right = (rows.difference > 0) == (rows.outcome > 0.5)
    every = np.ones(len(rows.votes), bool)
    probabilities = _cross_fitted(rows)
    error = np.zeros(0) if probabilities is None else (probabilities - rows.outcome) ** 2
    nothing = Share(value=None, low=None, high=None, votes=0)
    total = rows.votes.sum()
    return JudgeAgreement(
        judge=judge,
        votes=int(total),
        accuracy=rows.share(right & ~drawn, decided),
        accuracy_when_decided=rows.share(right, decided & ~drawn),
        draw_rate=rows.share(drawn, every),
        brier=nothing if probabilities is None else rows.share(error, every),
        brier_of_one_half=float((rows.votes * decided).sum() / 4 / total) if total else None,
        slope=_slope(rows.difference, rows.outcome, rows.votes) if total else None,
        ranks=rank_agreement(scores, {r.model_id: r.rating for r in ratings.ratings if r.rating is not None}),
    )


def _cross_fitted(rows: _Rows) -> np.ndarray | None:
    """The probability that the first reply wins, each from a mapping that was fitted on the votes of other cases.

    None with fewer than two cases.
    """
    if rows.cases < 2:
        return None
    folds = np.random.default_rng(SEED).permutation(rows.cases) % min(FOLDS, rows.cases)
    fold = folds[rows.case]
    probabilities = np.empty(len(rows.votes))
    for number in range(min(FOLDS, rows.cases)):
        others = fold != number
        slope = _slope(rows.difference[others], rows.outcome[others], rows.votes[others])
        probabilities[~others] = 1 / (1 + np.exp(-slope * rows.difference[~others]))
    return probabilities


STEEPEST = 50.0
"""Where a judge is always right no slope is steep enough; at this one a full point of score is certainty."""


def _slope(difference: np.ndarray, outcome: np.ndarray, votes: np.ndarray) -> float:
    """Logistic regression of the outcome on the difference alone: equal scores mean one half, whichever side."""
    from scipy.optimize import minimize_scalar

    if not np.any(difference):
        return 0.0  # Draws alone tell nothing of the slope.

    def loss(slope: float) -> float:
        odds = slope * difference
        return float((votes * (np.logaddexp(0, -odds) * outcome + np.logaddexp(0, odds) * (1 - outcome))).sum())

    return float(minimize_scalar(loss, bounds=(-STEEPEST, STEEPEST), method="bounded").x)


def _cautions(
    votes: int, synthetic: int, judges: list[JudgeAgreement], ratings: Ratings, labellers: LabellerAgreement
) -> list[str]:
    cautions = []
    if synthetic:
        cautions.append(f"{synthetic} of {votes} votes are synthetic: agreement with them is not agreement with people")
    if votes and not ratings.common_scale:
        cautions.append("the ratings have no common scale, so models are not ordered by them")
    ranked = max((judge.ranks.models for judge in judges), default=0)
    if ranked and (few := few_models(ranked)):
        cautions.append(few)
    if votes and labellers.alpha is None:
        cautions.append("no two annotators voted on the same two replies, so how far people agree is not known")
    return cautions
