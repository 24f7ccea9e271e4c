"""Plot tokens and positions mixed: the token's part, the position's part, and both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.matrix import own_scale, scale


def draw(
    words: Sequence[str],
    *,
    parts: Mapping[str, Array],
    what: str,
    across: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw matrices with a row per word side by side, each in its own scale.

    parts   the matrices, by their titles
    what    what they hold; across: what their columns are
    """
    square = all(part.shape == (len(words), len(words)) for part in parts.values())
    with frame.axes(
        1,
        len(parts),
        size=(9.6, 4.1 if square else 3.6),
        title=f"a sentence, its positions, and both ({what})",
        square=square,
        sharey=True,
    ) as axes:
        for one, (title, part) in zip(axes, parts.items(), strict=True):
            image = own_scale(one, part, frame, title, square=square)
            one.set_xlabel(across)
            if square:
                one.set_xticks(
                    range(len(words)), words, rotation=45, ha="right", rotation_mode="anchor"
                )
        axes[0].set_yticks(range(len(words)), words)
        scale(axes, image, "share of the panel's largest value")
    return tuple(axes)
