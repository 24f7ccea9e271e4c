"""A short row beside a longer one, filled up on one side: does it give what it gives alone?"""

from __future__ import annotations

import torch
from torch import Tensor

from locant.certification.probe import relative
from locant.hf.checking.model_probe import ENCODER_DECODER, ModelProbe
from locant.hf.checking.model_result import ModelResult, judge_errors

SHORT_ROW, LONG_ROW = 9, 14  # tokens of the two rows


def pad(row: Tensor, to: int, side: str, token: int) -> tuple[Tensor, Tensor]:
    """Fill a row (1, T) up on one side; return it and its mask, 1 for a token of the row."""
    fill = torch.full((1, to - row.shape[1]), token, dtype=row.dtype, device=row.device)
    ones, zeros = torch.ones_like(row), torch.zeros_like(fill)
    if side == "left":
        return torch.cat([fill, row], 1), torch.cat([zeros, ones], 1)
    return torch.cat([row, fill], 1), torch.cat([ones, zeros], 1)


def padded_batch(probe: ModelProbe, side: str) -> tuple[Tensor, Tensor]:
    """Return a batch (2, T) of a long row and a short row that is filled up, with its mask."""
    long = probe.tokens(LONG_ROW, more=1)
    short, mask = pad(probe.tokens(SHORT_ROW), LONG_ROW, side, probe.pad_token)
    return torch.cat([long, short]), torch.cat([torch.ones_like(mask), mask])


def positions_of(mask: Tensor, start: int) -> Tensor:
    """Count the tokens of each row: the position_ids that belong to a padding mask."""
    return (mask.cumsum(1) - 1).clamp(min=0) + start


def padding_errors(
    probe: ModelProbe, side: str, *, with_positions: bool = False
) -> dict[str, float]:
    """How far the outputs of the two rows are from those that each row has alone."""
    ids, mask = padded_batch(probe, side)
    if probe.kind == ENCODER_DECODER:  # what is padded is what the encoder reads
        target = probe.tokens(6, more=2)
        got = probe.run(target.expand(2, -1), source=ids, attention_mask=mask)
        alone = [
            probe.run(target, source=row[real.bool()][None])
            for row, real in zip(ids, mask, strict=True)
        ]
        errors = [relative(got[index], alone[index][0]) for index in range(2)]
    else:
        given = {"position_ids": positions_of(mask, probe.first_position)} if with_positions else {}
        got = probe.run(ids, attention_mask=mask, **given)
        errors = [
            relative(got[index][real.bool()], probe.run(row[real.bool()][None])[0])
            for index, (row, real) in enumerate(zip(ids, mask, strict=True))
        ]
    return {"in the row beside the padded one": errors[0], "in the padded row": errors[1]}


def judge_padding(probe: ModelProbe, errors: dict[str, float]) -> ModelResult:
    """Judge what padding changes; a recurrent state runs through the padding by nature."""
    return judge_errors(errors, nature=probe.nature_of_mixers("the padding"))
