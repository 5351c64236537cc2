"""One robot, one task, one method: everything that is prepared once, and the order in which routes to a posture are tried."""

from __future__ import annotations

import numpy as np

from manipula.errors import DescriptionError
from manipula.ik import diagnose
from manipula.ik.base import IkResult
from manipula.ik.methods import REGISTRY
from manipula.ik.search.algebraic import algebraic_for
from manipula.ik.search.analytic import Analytic, analytic_for
from manipula.ik.search.at_once import EveryBranch, NearestBranch
from manipula.ik.search.confined import confined
from manipula.ik.search.continuum import branches_within, continua, told_twins
from manipula.ik.search.distinct import enumerate_solutions
from manipula.ik.search.joint_box import SLACK
from manipula.ik.search.optimise import OptimisationSearch
from manipula.ik.search.parameter_scan import scan
from manipula.ik.search.starts import RELAXED, ROUNDS, Checker, Found, Search
from manipula.ik.search.unwound import Unwound
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.lazy import cached_property
from manipula.robot.robot import Robot

DEFAULT_METHOD = "levenberg_marquardt"
NO_CHANCE = np.random.default_rng(0)  # never asked: first starts are not random
MAX_ITERATIONS = 12_000  # of all starts together
FEW_ITERATIONS = 1_500  # of all starts together, after which a target counts as stubborn: one in ten thousand does
REGULAR = 1e-4  # least singular value of J against the largest, from which a branch counts as the only posture around
CLEARLY_BEYOND = 1e-6  # rad or m beyond a limit that no refinement takes away


class Solver:
    """Everything that is prepared once for one robot, task, method and choice about limits."""

    def __init__(self, robot: Robot, task: Task, method: str, limited: bool) -> None:
        robot = robot.numeric
        self.robot, self.task, self.limited = robot, task, limited
        self.has_limits = limited and bool(np.isfinite(np.asarray(robot.position_limits, float)).any())
        self.automatic = method == "auto"
        algebraic = not self.automatic and REGISTRY[method].algebraic
        self.numeric = DEFAULT_METHOD if self.automatic or algebraic else method
        self.check = Checker(robot, task)
        active = movable(robot, task)
        if active is None:
            raise DescriptionError(
                f"No joint of '{robot.name}' moves frame '{task.parts[0][0]}'; a frame behind a joint is needed.",
                field="frame",
            )
        self.active = active
        self.shells = diagnose.shells(robot, task, limited)
        self.kept = confined(robot, task)
        self.analytic: Analytic | None = None
        if self.automatic:
            self.analytic = analytic_for(robot, task, limited)
        elif algebraic:
            self.analytic = algebraic_for(method, robot, task, limited)
        # one posture of a redundant arm is found sooner by descent than by trying values of its parameter
        self.direct = None if self.analytic is None or (self.analytic.redundant and self.automatic) else self.analytic
        # … except that the arm angle of a shoulder–elbow–wrist arm is nearly free: zero serves nine targets of ten
        turnable = self.analytic is not None and self.analytic.solver.parameter == "arm_angle"
        self.quick = self.analytic if turnable and self.direct is None else None

    @cached_property
    def search(self) -> Search:
        kind = Search if REGISTRY[self.numeric].compiled else OptimisationSearch
        return kind(self.robot, self.active, self.numeric, self.limited)

    @cached_property
    def unwound(self) -> Unwound:
        return Unwound(self.robot, self.limited)

    @cached_property
    def nearest(self) -> NearestBranch | None:
        """What answers most targets at once by a branch of the closed form; of a redundant arm only when its arm angle may be zero."""
        if self.direct is not None and not self.direct.redundant:
            return NearestBranch(self.direct, self.task) if self.direct.at_once else None
        return None if self.quick is None else NearestBranch(self.quick, self.task, 0.0)

    @cached_property
    def every(self) -> EveryBranch | None:
        """What looks at all branches of a closed form at once; None where infinitely many postures reach every target."""
        if (
            self.analytic is None
            or self.analytic.redundant
            or self.active.size < self.robot.n
            or not self.analytic.at_once
        ):
            return None
        return EveryBranch(self.analytic, self.task, self.active)

    @cached_property
    def free(self) -> Search | None:
        """The same without limits, for reasons; None when there are none."""
        return Search(self.robot, self.active, DEFAULT_METHOD, False) if self.has_limits else None

    def renewed(self) -> Solver:
        """The same solver; searches by a method of somebody, or by one registered anew, are forgotten and made again."""
        held = self.__dict__
        for name in ("search", "free"):
            if held.get(name) is not None and not held[name].is_current:
                held.pop(name, None)
        return self

    # ------------------------------------------------------------------ one target
    def one(self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int, seed: int) -> IkResult:
        if self.nearest is not None and (self.direct is not None or not seed):
            found = self.nearest.answer(self._closed_form_target(targets), q0, tolerance)
            if found is not None:
                return found
        gap = self._gap(targets, tolerance)
        if gap > 0.0:
            return self._out_of_reach(targets, gap)
        if self.direct is not None:
            q = self.direct.best(targets[0], q0)
            if q is not None:
                residual = float(self.check(targets, q))
                if residual <= tolerance:
                    return IkResult(q, "solved", residual, 0, "", self.direct.name)
                if q0 is None or residual < float(self.check(targets, q0)):
                    q0 = q  # near-matches are polished
        (verdict,) = diagnose.immovable(self.robot, self.task, targets[None], tolerance) if self.kept else (None,)
        known = self._beyond_limits(targets) if verdict is None else None
        if known is not None:
            return known
        few = self._few(most) if verdict is None else min(most, FEW_ITERATIONS)
        found = self.search.one(targets, q0, tolerance, few, seed)
        residual = float(self.check(targets, found.q))
        if verdict is not None:
            return IkResult(found.q, verdict.status, residual, int(found.iterations), verdict.reason, self.numeric)
        if residual <= tolerance and (found.solved or self._within(found.q)):
            return IkResult(found.q, "solved", residual, int(found.iterations), "", self.numeric)
        return self._stubborn(targets, found, tolerance, most, seed)

    def _closed_form_target(self, targets: np.ndarray) -> np.ndarray:
        """One target as the closed form takes it: a pose (4, 4), or a position (3,)."""
        X = targets[0]
        return np.ascontiguousarray(X[:3, 3]) if self.analytic is not None and self.analytic.positions else X

    def _gap(self, targets: np.ndarray, tolerance: float) -> float:
        """By how much one target is out of reach, the first that is [m]; 0 when none is."""
        for k, reach in self.shells:
            (_, _, _, x), (_, _, _, y), (_, _, _, z), _ = targets[k].tolist()
            gap = reach.gap_of(x, y, z)
            if gap > tolerance:
                return gap
        return 0.0

    def _out_of_reach(self, targets: np.ndarray, gap: float) -> IkResult:
        status, reason = diagnose.unreachable(self.robot, self.task, gap)
        q = self.search.starts(targets.reshape(1, -1), np.zeros(1, int), NO_CHANCE)[0]
        return IkResult(q, status, float(self.check(targets, q)), 0, reason, self.numeric)

    def _within(self, q: np.ndarray) -> bool:
        return not self.has_limits or float(self.search.joint_box.beyond_by(np.asarray(q, float))[1]) <= SLACK

    @property
    def widens(self) -> bool:
        """May a target that a few starts miss be looked for from many at once? (not when another method was asked for)"""
        return self.numeric == DEFAULT_METHOD

    def _few(self, most: int) -> int:
        """Iterations after which a target is looked for in another way, where enough are left for that."""
        return FEW_ITERATIONS if self.widens and most >= FEW_ITERATIONS + self.search.round else most

    def _beyond_limits(self, targets: np.ndarray) -> IkResult | None:
        """The verdict when every branch of an exact closed form is beyond the limits."""
        analytic = self.direct
        if analytic is None or not analytic.exact or analytic.redundant or not self.has_limits:
            return None
        q, beyond = analytic.joint_box.beyond_by(analytic.every(targets[0]))
        if len(q) < analytic.solver.branches or beyond.min() <= SLACK:
            return None  # some are missing: perhaps by rounding, at the border of the reach
        s = np.linalg.svd(np.asarray(self.search.errors(targets[None], q)[1], float), compute_uv=False)
        if np.any(s[:, -1] < REGULAR * s[:, 0]):
            return None  # at a singular posture a branch stands for a continuum
        return self._outside(targets, q[int(np.argmin(beyond))], analytic.name)

    def _none_exists(self, targets: np.ndarray) -> bool:
        """Does an exact closed form know that no posture reaches a target, whatever the limits?"""
        analytic = self.analytic
        return (
            analytic is not None and analytic.exact and not analytic.redundant and not len(analytic.every(targets[0]))
        )

    def _outside(self, targets: np.ndarray, q: np.ndarray, method: str) -> IkResult:
        status, reason = diagnose.beyond_limits(self.robot, q)
        clipped = np.asarray(self.search.joint_box.clipped(q), float)
        return IkResult(clipped, status, float(self.check(targets, clipped)), 0, reason, method)

    def _scanned(self, targets: np.ndarray, tolerance: float) -> IkResult | None:
        """What the closed form of a redundant arm says after a look at every value of its parameter."""
        analytic = self.analytic
        if analytic is None or not analytic.redundant:
            return None
        found = scan(analytic.solver, analytic.joint_box, targets[0])
        if not len(found.q):
            return None
        q = np.asarray(self.search.refine(targets[None], found.q, tolerance * RELAXED, 20.0)[0], float)
        residual = np.atleast_1d(np.asarray(self.check(targets[None], q), float))
        k = int(np.argmin(residual))
        if residual[k] <= tolerance:
            return IkResult(q[k], "solved", float(residual[k]), 0, "", analytic.name)
        if not analytic.exact or found.beyond[0] < CLEARLY_BEYOND:
            return None
        return self._outside(targets, found.q[0], analytic.name)

    def _stubborn(self, targets: np.ndarray, found: Found, tolerance: float, most: int, seed: int) -> IkResult:
        """A target that a few starts did not reach: from many at once, then without limits, then the reason."""
        known = self._scanned(targets, tolerance)
        if known is not None:
            return known
        q, used = np.asarray(found.q, float), float(found.iterations)
        rounds = int((most - used) // self.search.round) if self.widens else 0
        if rounds:
            sure = self.analytic is not None and self.analytic.exact  # and it found nothing either
            wide = self.search.wide(targets, tolerance, seed, min(rounds, 1 if sure else ROUNDS))
            used += float(wide.iterations)
            residual = float(self.check(targets, wide.q))
            if residual <= tolerance and self._within(wide.q):
                return IkResult(wide.q, "solved", residual, int(used), "", self.numeric)
            if wide.error < found.error or found.solved:
                q = np.asarray(wide.q, float)
        known_of = self._none_exists(targets), most >= FEW_ITERATIONS + self.search.round
        verdict = None
        if self.free is not None and known_of[1]:
            other = self.free.wide(targets, tolerance, seed, 1)
            if bool(other.solved) and float(self.check(targets, other.q)) <= tolerance:
                verdict = diagnose.beyond_limits(self.robot, np.asarray(other.q, float))
                if self._within(other.q):  # it was not limits that kept the method away
                    verdict = diagnose.stuck(self.search, targets, q, used, tolerance, *known_of)
        verdict = verdict or diagnose.stuck(self.search, targets, q, used, tolerance, *known_of)
        return IkResult(q, verdict.status, float(self.check(targets, q)), int(used), verdict.reason, self.numeric)

    # ------------------------------------------------------------------ many targets
    def many(self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int, seed: int) -> IkResult:
        count, n = len(targets), self.robot.n
        status = np.full(count, "solved", dtype="<U13")
        reason = np.full(count, "", dtype=object)
        method = np.full(count, self.numeric, dtype=object)
        q, iterations = np.zeros((count, n)), np.zeros(count, int)
        gap = diagnose.out_of_reach(self.robot, self.task, targets, self.limited, tolerance)
        todo = gap == 0.0
        for k in np.flatnonzero(~todo):
            status[k], reason[k] = diagnose.unreachable(self.robot, self.task, float(gap[k]))
        immovable = diagnose.immovable(self.robot, self.task, targets, tolerance) if self.kept else [None] * count
        if not todo.all():
            flat = targets[~todo].reshape(int((~todo).sum()), -1)
            q[~todo] = self.search.starts(flat, np.zeros(len(flat), int), NO_CHANCE)
        if self.direct is not None and todo.any():
            which = np.flatnonzero(todo)
            best, exists = self.direct.best_of_many(targets[which, 0], None if q0 is None else q0[which])
            fine = exists & (np.asarray(self.check(targets[which], best), float) <= tolerance)
            q[which[fine]], method[which[fine]], todo[which[fine]] = best[fine], self.direct.name, False
        which = np.flatnonzero(todo)
        if len(which):
            found = self.search.many(
                targets[which], None if q0 is None else q0[which], tolerance, self._few(most), seed
            )
            q[which], iterations[which] = found.q, found.iterations
            residual = np.asarray(self.check(targets[which], found.q), float)
            for i in np.flatnonzero(~(residual <= tolerance) | ~found.solved):
                k = which[i]
                verdict = immovable[k]
                if verdict is not None:
                    status[k], reason[k] = verdict
                    continue
                if residual[i] <= tolerance and self._within(found.q[i]):
                    continue
                left = Found(*(np.asarray(x)[i] for x in found))
                one = self._beyond_limits(targets[k]) or self._stubborn(targets[k], left, tolerance, most, seed)
                q[k], status[k], iterations[k], reason[k], method[k] = (
                    one.q,
                    one.status,
                    one.iterations,
                    one.reason,
                    one.method,
                )
        residual = np.asarray(self.check(targets, q), float)
        return IkResult(q, status, residual, iterations, reason, method)

    # ------------------------------------------------------------------ all solutions of one target
    def all(
        self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int | None, seed: int
    ) -> IkResult:
        ordinary = None if self.every is None else self.every.answer(self._closed_form_target(targets), q0, tolerance)
        if ordinary is not None:
            return ordinary
        gap = self._gap(targets, tolerance)
        empty = np.zeros((0, self.robot.n))
        (refused,) = diagnose.immovable(self.robot, self.task, targets[None], tolerance) if self.kept else (None,)
        if gap > 0.0 or refused is not None:
            status, reason = refused or diagnose.unreachable(self.robot, self.task, gap)
            return IkResult(empty, status, np.zeros(0), 0, reason, self.numeric, np.zeros(0, bool))
        known = None if self.analytic is None else branches_within(self, self.analytic, targets, tolerance)
        outside = self._beyond_limits(targets) if known is not None and not len(known) else None
        if outside is not None:
            status, reason = outside.status, outside.reason
            return IkResult(empty, status, np.zeros(0), 0, reason, outside.method, np.zeros(0, bool))
        done = enumerate_solutions(self, targets, known, tolerance, most, seed)
        if len(done.q):
            nearest = None if q0 is None else np.argsort(np.max(np.abs(done.q - q0), axis=1), kind="stable")
            q, residual = (x if nearest is None else x[nearest] for x in (done.q, done.residual))
            free, told = continua(self, targets, q, tolerance)
            reason = done.reason + told + told_twins(self.robot, q, free)
            return IkResult(q, "solved", residual, done.iterations, reason, done.method, free)
        left = MAX_ITERATIONS if most is None else max(1, most - done.iterations)
        failed = self.one(targets, q0, tolerance, left, seed)
        if failed.status == "solved":
            free, told = continua(self, targets, failed.q[None], tolerance)
            residual = np.array([failed.residual])
            return IkResult(failed.q[None], "solved", residual, failed.iterations, told.strip(), failed.method, free)
        none = np.zeros(0)
        return IkResult(empty, failed.status, none, failed.iterations, failed.reason, failed.method, none.astype(bool))
