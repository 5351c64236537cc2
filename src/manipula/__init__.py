"""Manipula: from a robot table to torque.

The names below stand in the order of the pipeline: describe, derive, compile, move, control, simulate, judge.
Importing does no work: each name is fetched when it is first used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from manipula import verbs
from manipula.version import __version__

# NumPy's BLAS lets its idle threads spin for a quarter of a second, from the import on and after every product, at the expense of whatever
# else runs; with this they sleep at once. It says nothing about how many there are or what they compute.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

_PUBLIC = {
    # a manipulator
    "Robot": "manipula.robot.robot",
    "Payload": "manipula.robot.link",
    "load": "manipula.formats.load",
    "save": "manipula.formats.load",
    "planar": "manipula.formats.planar",
    "from_dh": "manipula.formats.dh",
    "to_dh": "manipula.formats.dh",
    "from_urdf": "manipula.formats.urdf",
    "from_mjcf": "manipula.formats.mjcf",
    "from_sdf": "manipula.formats.sdf",
    "from_toml": "manipula.formats.toml",
    "from_table": "manipula.formats.table",
    "from_rtb": "manipula.compat.from_rtb",
    "from_pinocchio": "manipula.compat.from_pinocchio",
    "from_mujoco": "manipula.compat.from_mujoco",
    "catalog": "manipula.formats.catalog",
    "doctor": "manipula.robot.doctor",
    "friction": "manipula.robot.friction",
    "drives": "manipula.robot.drives",
    # equations people read
    "equations": "manipula.symbolic.equations",
    "export": "manipula.codegen",
    # machine code
    "compile": "manipula.model",
    "Model": "manipula.model",
    "native": "manipula.native",
    # where to go
    "paths": "manipula.motion.paths",
    "timing": "manipula.motion.timing",
    "trajectory": "manipula.motion.trajectory",
    "formula_motion": "manipula.motion.formula_motion",
    "waypoints": "manipula.motion.waypoints",
    "shaped": "manipula.motion.shaped",
    "reference_from": "manipula.motion.reference_from",
    # how to get there
    "solve_ik": "manipula.ik.solve",
    "IkResult": "manipula.ik.base",
    "track": "manipula.ik.tracking.track",
    "track_cyclic": "manipula.ik.tracking.cyclic",
    "joint_move": "manipula.motion.joint_move",
    "time_optimal": "manipula.motion.time_optimal",
    "check_limits": "manipula.motion.limits",
    # what to do
    "control": "manipula.control",
    # making it move
    "Scenario": "manipula.simulation.scenario",
    "Wrench": "manipula.simulation.plant.disturbances",
    "WrenchTable": "manipula.simulation.plant.disturbances",
    "PayloadChange": "manipula.simulation.plant.disturbances",
    "BaseMotion": "manipula.simulation.plant.base_motion",
    "contact": "manipula.simulation.plant.contact",
    "Noise": "manipula.simulation.plant.disturbances",
    "Actuator": "manipula.simulation.plant.disturbances",
    "Encoder": "manipula.simulation.plant.encoder",
    "Switch": "manipula.simulation.plant.switch",
    "simulate": "manipula.simulation.simulate",
    "iterative_learning": "manipula.simulation.iterative_learning",
    "Result": "manipula.simulation.result",
    "load_result": "manipula.simulation.stored.store",
    "programmed_motion": "manipula.simulation.programmed.motion",
    "ProgramScenario": "manipula.simulation.programmed.scenario",
    "run_file": "manipula.simulation.run_file",
    "Constraint": "manipula.simulation.programmed.constraint",
    # many runs
    "studies": "manipula.studies",
    "Study": "manipula.studies.study",
    "sweep": "manipula.studies.sweep",
    "open_study": "manipula.studies.opened",
    "tune": "manipula.studies.tuning.tune",
    "uniform": "manipula.studies.distributions",
    "log_uniform": "manipula.studies.distributions",
    "normal": "manipula.studies.distributions",
    "triangular": "manipula.studies.distributions",
    "choice": "manipula.studies.distributions",
    # what it means
    "feasibility": "manipula.analysis.feasibility",
    "workspace": "manipula.analysis.workspace",
    "manipulability": "manipula.analysis.manipulability",
    "limit_distance": "manipula.analysis.manipulability",
    "singularities": "manipula.analysis.singularities",
    "natural_modes": "manipula.analysis.vibration",
    "power_report": "manipula.analysis.power",
    "sensitivity": "manipula.analysis.sensitivity",
    "sobol_indices": "manipula.analysis.sensitivity",
    "certify": "manipula.certificate.certify",
    "identify": "manipula.analysis.identification.estimate",
    "identify_log": "manipula.analysis.identification.from_log",
    "identify_payload": "manipula.analysis.identification.payload",
    "identify_drive_gains": "manipula.analysis.identification.drive_gains",
    "read_log": "manipula.analysis.identification.read_log",
    "Log": "manipula.analysis.identification.log",
    "calibrate": "manipula.analysis.identification.calibration",
    "excitation": "manipula.analysis.identification.excitation",
    "base_parameters": "manipula.analysis.identification.base_parameters",
    # pictures
    "plot": "manipula.reports.figures",
    "animate": "manipula.reports.animation",
    "write_report": "manipula.reports.report",
    "progress_bar": "manipula.reports.progress_bar",
    # errors
    "ManipulaError": "manipula.errors",
    "DescriptionError": "manipula.errors",
    "UnknownNameError": "manipula.errors",
    "UnphysicalError": "manipula.errors",
    "BudgetError": "manipula.errors",
    "ShapeError": "manipula.errors",
    "TracingError": "manipula.errors",
    "CompileError": "manipula.errors",
    "SolveError": "manipula.errors",
}
_VERBS = {  # methods and functions whose work is done in rooms above theirs
    "Result.feasibility": "manipula.simulation.verdicts.limits:limit_verdict",
    "Result.jerk": "manipula.simulation.signals.jerk:jerk_of",
    "Result.point_motion": "manipula.simulation.signals.point_trace:traced_point",
    "Result.to_reference": "manipula.simulation.signals.to_reference:reference_of",
    "Result.to_xarray": "manipula.simulation.stored.store:to_xarray",
    "Result.save": "manipula.simulation.stored.store:save_result",
    "Result.report": "manipula.reports.report:write_report",
    "export.scenario": "manipula.simulation.exported.javascript:export_scenario",
    "notebook": "manipula.reports.notebook:html_of",
    "Scenario.save": "manipula.simulation.files.scenario_file:save_scenario",
    "Scenario.load": "manipula.simulation.files.scenario_file:load_scenario",
    "ProgramScenario.load": "manipula.simulation.files.scenario_file:load_programmed",
    "Calibration.report": "manipula.reports.calibration:write_calibration_report",
    "LogIdentification.report": "manipula.reports.identification:write_identification_report",
    "ProgramScenario.run": "manipula.simulation.run_file:run_programmed_scenario",
    "ProgramScenario.run_batch": "manipula.simulation.program_runs:run_batch",
    "ProgramScenario.realised": "manipula.simulation.program_runs:realised",
    "Study.save": "manipula.studies.files:save_study",
    "Study.load": "manipula.studies.files:load_study",
    "StudyResults.report": "manipula.reports.studies.page:write_study_report",
    "StudyResults.plot": "manipula.reports.studies.pictures:plot_study",
    "Tuning.report": "manipula.reports.studies.tuning:write_tuning_report",
}
verbs.provide(_VERBS)
_MODULES = {"friction", "drives", "native", "paths", "timing", "control", "contact", "studies"}

__all__ = [*_PUBLIC, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        from manipula.errors import nearest

        # names with an underscore are asked of every module by tools: no mistake, no suggestion
        close = None if name.startswith("_") else nearest(name, _PUBLIC)
        hint = f"; did you mean '{close}'?" if close else ""
        raise AttributeError(f"module 'manipula' has no attribute '{name}'{hint}")
    module = importlib.import_module(_PUBLIC[name])
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from manipula import control as control
    from manipula import native as native
    from manipula import studies as studies
    from manipula.analysis.feasibility import feasibility as feasibility
    from manipula.analysis.identification.base_parameters import base_parameters as base_parameters
    from manipula.analysis.identification.calibration import calibrate as calibrate
    from manipula.analysis.identification.drive_gains import identify_drive_gains as identify_drive_gains
    from manipula.analysis.identification.estimate import identify as identify
    from manipula.analysis.identification.excitation import excitation as excitation
    from manipula.analysis.identification.from_log import identify_log as identify_log
    from manipula.analysis.identification.log import Log as Log
    from manipula.analysis.identification.payload import identify_payload as identify_payload
    from manipula.analysis.identification.read_log import read_log as read_log
    from manipula.analysis.manipulability import limit_distance as limit_distance
    from manipula.analysis.manipulability import manipulability as manipulability
    from manipula.analysis.power import power_report as power_report
    from manipula.analysis.sensitivity import sensitivity as sensitivity
    from manipula.analysis.sensitivity import sobol_indices as sobol_indices
    from manipula.analysis.singularities import singularities as singularities
    from manipula.analysis.vibration import natural_modes as natural_modes
    from manipula.analysis.workspace import workspace as workspace
    from manipula.certificate.certify import certify as certify
    from manipula.codegen import export as export
    from manipula.compat.from_mujoco import from_mujoco as from_mujoco
    from manipula.compat.from_pinocchio import from_pinocchio as from_pinocchio
    from manipula.compat.from_rtb import from_rtb as from_rtb
    from manipula.errors import BudgetError as BudgetError
    from manipula.errors import CompileError as CompileError
    from manipula.errors import DescriptionError as DescriptionError
    from manipula.errors import ManipulaError as ManipulaError
    from manipula.errors import ShapeError as ShapeError
    from manipula.errors import SolveError as SolveError
    from manipula.errors import TracingError as TracingError
    from manipula.errors import UnknownNameError as UnknownNameError
    from manipula.errors import UnphysicalError as UnphysicalError
    from manipula.formats.catalog import catalog as catalog
    from manipula.formats.dh import from_dh as from_dh
    from manipula.formats.dh import to_dh as to_dh
    from manipula.formats.load import load as load
    from manipula.formats.load import save as save
    from manipula.formats.mjcf import from_mjcf as from_mjcf
    from manipula.formats.planar import planar as planar
    from manipula.formats.sdf import from_sdf as from_sdf
    from manipula.formats.table import from_table as from_table
    from manipula.formats.toml import from_toml as from_toml
    from manipula.formats.urdf import from_urdf as from_urdf
    from manipula.ik.base import IkResult as IkResult
    from manipula.ik.solve import solve_ik as solve_ik
    from manipula.ik.tracking.cyclic import track_cyclic as track_cyclic
    from manipula.ik.tracking.track import track as track
    from manipula.model import Model as Model
    from manipula.model import compile as compile
    from manipula.motion import paths as paths
    from manipula.motion import timing as timing
    from manipula.motion.formula_motion import formula_motion as formula_motion
    from manipula.motion.joint_move import joint_move as joint_move
    from manipula.motion.limits import check_limits as check_limits
    from manipula.motion.reference_from import reference_from as reference_from
    from manipula.motion.shaped import shaped as shaped
    from manipula.motion.time_optimal import time_optimal as time_optimal
    from manipula.motion.trajectory import trajectory as trajectory
    from manipula.motion.waypoints import waypoints as waypoints
    from manipula.reports.animation import animate as animate
    from manipula.reports.figures import plot as plot
    from manipula.reports.progress_bar import progress_bar as progress_bar
    from manipula.reports.report import write_report as write_report
    from manipula.robot import drives as drives
    from manipula.robot import friction as friction
    from manipula.robot.doctor import doctor as doctor
    from manipula.robot.link import Payload as Payload
    from manipula.robot.robot import Robot as Robot
    from manipula.simulation.iterative_learning import iterative_learning as iterative_learning
    from manipula.simulation.plant import contact as contact
    from manipula.simulation.plant.base_motion import BaseMotion as BaseMotion
    from manipula.simulation.plant.disturbances import Actuator as Actuator
    from manipula.simulation.plant.disturbances import Noise as Noise
    from manipula.simulation.plant.disturbances import PayloadChange as PayloadChange
    from manipula.simulation.plant.disturbances import Wrench as Wrench
    from manipula.simulation.plant.disturbances import WrenchTable as WrenchTable
    from manipula.simulation.plant.encoder import Encoder as Encoder
    from manipula.simulation.plant.switch import Switch as Switch
    from manipula.simulation.programmed.constraint import Constraint as Constraint
    from manipula.simulation.programmed.motion import programmed_motion as programmed_motion
    from manipula.simulation.programmed.scenario import ProgramScenario as ProgramScenario
    from manipula.simulation.result import Result as Result
    from manipula.simulation.run_file import run_file as run_file
    from manipula.simulation.scenario import Scenario as Scenario
    from manipula.simulation.simulate import simulate as simulate
    from manipula.simulation.stored.store import load_result as load_result
    from manipula.studies.distributions import choice as choice
    from manipula.studies.distributions import log_uniform as log_uniform
    from manipula.studies.distributions import normal as normal
    from manipula.studies.distributions import triangular as triangular
    from manipula.studies.distributions import uniform as uniform
    from manipula.studies.opened import open_study as open_study
    from manipula.studies.study import Study as Study
    from manipula.studies.sweep import sweep as sweep
    from manipula.studies.tuning.tune import tune as tune
    from manipula.symbolic.equations import equations as equations
