"""Options of Python as words of the command line."""

import os

import numpy as np


def words_of(who, **options):
    """--name=value of each option that is not None. True is the option alone, and False leaves it out.

    Raises TypeError for what is neither a number nor a text.
    """
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (str, os.PathLike)):
            words.append(f"{option}={os.fspath(value)}")
        elif isinstance(value, (int, float, np.integer, np.floating)):
            words.append(f"{option}={value.item() if isinstance(value, np.generic) else value}")
        else:
            raise TypeError(f"{who}: {name}={value!r} (is neither a number nor a text). Give one.")
    return words
