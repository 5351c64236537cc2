"""How well does a log of a real robot predict what was not used? Residuals per joint beside published ones.

    python benchmarks/bench_identification.py LOG [ROBOT] [--cutoff 8] [--decimate 10]

LOG is a file that ``read_log`` reads. The first half is learned from, the second half validates; columns and widths of friction are chosen inside the
first half. With the log of Gaz et al. 2019 (trajectory 1 of marcocognetti/FrankaEmikaPandaDynModel) and the defaults, RMS on the second half [N·m]:

    joint                                  1      2      3      4      5      6      7
    base parameters, viscous, Coulomb,
    offset; 8 Hz both ways, every tenth  0.151  0.231  0.138  0.169  0.085  0.039  0.064
    this, base parameters                0.147  0.212  0.122  0.139  0.070  0.032  0.038
    this, as a robot that can exist      0.144  0.194  0.122  0.169  0.075  0.036  0.047
"""

from __future__ import annotations

import argparse
import json

import manipula as mp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("robot", nargs="?", default="panda")
    parser.add_argument("--cutoff", type=float, default=8.0)
    parser.add_argument("--decimate", type=int, default=10)
    asked = parser.parse_args()
    robot = mp.load(asked.robot)
    found = mp.identify_log(
        robot, mp.read_log(asked.log, robot), validate=0.5, cutoff=asked.cutoff, decimate=asked.decimate
    )
    kept = (
        "extras",
        "cutoff",
        "used_rate",
        "condition",
        "training_rms",
        "cross_validation_rms",
        "validation_rms",
        "validation_rms_physical",
    )
    print(json.dumps({key: value for key, value in found.to_dict().items() if key in kept}, indent=2))


if __name__ == "__main__":
    main()
