"""Prints a constraint for each library that pyproject.toml names, tools aside: its lowest version."""

import sys
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def lowest(requirement: Requirement) -> str:
    """Its one lower bound. Raises ValueError where there is none, or more than one."""
    [bound] = [each.version for each in requirement.specifier if each.operator == ">="]
    return f"{requirement.name}=={bound}"


def main() -> None:
    """Each once: what several extras name must have the same bound in all of them."""
    extras = PROJECT["optional-dependencies"]
    named = chain(PROJECT["dependencies"], *(extras[name] for name in extras.keys() - {"dev"}))
    requirements = [Requirement(text) for text in named]
    lines = {lowest(each) for each in requirements if each.name != "answerback"}
    sys.stdout.writelines(f"{line}\n" for line in sorted(lines))


if __name__ == "__main__":
    main()
