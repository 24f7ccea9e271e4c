"""Write docs/models.md from the certificates of every architecture."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from locant.hf.checking.certify_model import model_properties
from locant.lab.report.certificate_pages import MODEL_LEGEND

REPRODUCTIONS = Path(__file__).with_name("reproductions")
KINDS = {"decoder": "Decoders", "encoder": "Encoders", "encoder-decoder": "Encoder-decoders"}
VERDICTS = ("holds", "fails", "by nature", "does not apply", "seen", "not judged")
EXPLAINED = {  # what was confirmed by hand, in a sentence; the code stands in docs/reproductions
    "packed": "position_ids that start anew part sequences only where the mask is made without a "
    "cache, and by default a cache is made before it: the second sequence sees the first. With "
    "use_cache=False most models are right. Moshi makes its mask first and its cache after it, so "
    "that its first call is right with a cache too.",
    "packed-off": "Even without a cache, the masks of these models are made without looking at "
    "position_ids. A block mask parts the sequences.",
    "gaps": "The same rule reads any step of position_ids other than 1 as the border of a packed "
    "sequence: without a cache and an attention_mask, tokens behind a gap see nothing before it.",
    "left-mask": "Positions are counted from the first column, padding included, unless "
    "position_ids are given.",
    "generated": "Most of these decoders use no position_ids and count padding as positions, so "
    "`generate` cannot help it: generate rows of one length. (llama4_text, reformer and whisper "
    "were not looked into.)",
    "obeyed": "position_ids are accepted, in most cases by **kwargs, and not used, without a word.",
    "cached": "The default position of a new token is the length of the cache in layer 0, which "
    "is a Mamba layer and counts none: every step is at position 0. `generate` passes positions "
    "and is right.",
    "chunked": "A Mamba layer goes on from its state only token by token; a longer chunk starts "
    "from an empty state, and in bamba from position 0 as well. (fsmt was not looked into.)",
    "sdpa": "Beside left padding eager gives another answer than sdpa in recurrent_gemma, and NaN "
    "in qwen4_exp_text; sdpa, the default, gives what the row gives alone.",
    "cast": "Frequencies are a buffer, and .to(torch.bfloat16) rounds it: angles are off by "
    "radians from some hundred positions on. Loading with dtype=torch.bfloat16 keeps float32.",
    "meta": "Frequencies, or tables of position_ids, are computed when a model is built and are "
    "not among its weights: load_state_dict says that all keys match and leaves them empty. "
    "from_pretrained computes them anew.",
    "after-long": "Dynamic NTK computes frequencies from the longest call so far and keeps them "
    "for the next call; beside a longer row and from a cache the same rule gives other angles "
    "than a call of its own (beside-long, long-cache).",
}


def page(papers: list[dict[str, Any]], date: str, versions: dict[str, str]) -> str:
    """Write the page: how to use it, counts, failures explained, every architecture."""
    certified = [paper for paper in papers if "problem" not in paper]
    parts = [
        _head(len(certified), date, versions),
        _counts(certified),
        "## What fails, and why",
        "Each was confirmed by hand, by the lines below it. The models are tiny and random; what "
        "they show is how a call is read, not how well a trained model copes.",
        *[_explained(name, certified) for name in EXPLAINED],
        _others(certified),
        "## Every architecture",
        "What fails, and what differs by nature; all else holds, does not apply or is listed as "
        "not judged.",
        *[_architectures(kind, certified) for kind in KINDS],
        _not_measured([paper for paper in papers if "problem" in paper]),
        "## What each property says",
        "\n".join(
            f"- **{name}**: {module.SENTENCE} *What to do:* {module.REMEDY}"
            for name, module in model_properties().items()
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _head(count: int, date: str, versions: dict[str, str]) -> str:
    made = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"""# Models

What {count} text architectures of transformers do with padding, packing, caches and far positions,
measured on the whole model. For a checkpoint of your own:

```
locant check ./checkpoint            # a folder with config.json and weights, or one file (GGUF …)
locant check --config config.json    # its architecture, small, with random weights
```

In Python: `locant.hf.certify(model)`; in tests:
`locant.testing.assert_model_certified(model, known=["packed"])`.

Made on {date} by `python docs/make_models.py` with {made}, on a CPU: every architecture
of the installed transformers that can be built with small sizes; random weights, float32, rows of 6
to 14 tokens, differences up to 0.002 of the outputs' size. A property that raises is not judged,
and nothing passes that was not measured."""


def _verdicts(papers: list[dict[str, Any]], name: str) -> dict[str, list[str]]:
    """The architectures by their verdict on a property."""
    found = defaultdict(list)
    for paper in papers:
        for finding in paper["findings"]:
            if finding["name"] == name:
                found[finding["verdict"]].append(paper["model"])
    return found


def _counts(papers: list[dict[str, Any]]) -> str:
    lines = ["| property | ✓ | ✗ | ~ | – | · | ○ |", "|---|--:|--:|--:|--:|--:|--:|"]
    for name in model_properties():
        found = _verdicts(papers, name)
        cells = " | ".join(str(len(found[verdict]) or "") for verdict in VERDICTS)
        lines.append(f"| **{name}** | {cells} |")
    return "\n".join([*lines, "", MODEL_LEGEND + "."])


def _explained(name: str, papers: list[dict[str, Any]]) -> str:
    found = _verdicts(papers, name)
    failing, right = found["fails"], found["holds"]
    judged = len(failing) + len(right)
    code = (REPRODUCTIONS / f"{name}.py").read_text(encoding="utf-8").strip()
    shorter = failing if len(failing) <= len(right) else right
    listed = ", ".join(f"`{model}`" for model in shorter) or "none"
    listed = f"Those that {'fail' if shorter is failing else 'hold'}: {listed}."
    return (
        f"### {name}: {len(failing)} of {judged} fail\n\n{EXPLAINED[name]}\n\n{listed}\n\n"
        f"```python\n{code}\n```"
    )


def _others(papers: list[dict[str, Any]]) -> str:
    """List the failures that nobody has looked into."""
    lines = []
    covered = {*EXPLAINED, "beside-long", "long-cache"}
    for paper in papers:
        for finding in paper["findings"]:
            if finding["verdict"] == "fails" and finding["name"] not in covered:
                lines.append(f"- `{paper['model']}`, {finding['name']}: {finding['message']}")
    if not lines:
        return ""
    return (
        "### Other failures\n\nThese were measured and not confirmed by hand. By their papers, "
        "`mobilebert` embeds a token with its neighbors, and `nystromformer` and `yoso` "
        "approximate attention over the whole row, padding included; `llama4_text` seems to scale "
        "queries by the column and not by position_ids, which shows here "
        "because the scaling begins at 4 tokens (8,192 in released models).\n\n" + "\n".join(lines)
    )


def _architectures(kind: str, papers: list[dict[str, Any]]) -> str:
    lines = []
    for paper in papers:
        if paper["kind"] == kind:
            lines.append(entry_line(paper))
    return f"### {KINDS[kind]} ({len(lines)})\n\n" + "\n".join(lines)


def entry_line(paper: dict[str, Any]) -> str:
    """Write one architecture as a line of the list."""
    by = defaultdict(list)
    for finding in paper["findings"]:
        if finding["name"] != "flex":  # measured for none
            by[finding["verdict"]].append(finding["name"])
    words = [f"fails {', '.join(by['fails'])}" if by["fails"] else "nothing fails"]
    for verdict in ("by nature", "not judged"):
        if by[verdict]:
            words.append(f"{verdict}: {', '.join(by[verdict])}")
    return f"- `{paper['model']}`: {'; '.join(words)}"


def _not_measured(papers: list[dict[str, Any]]) -> str:
    counted = Counter(_reason(paper["problem"]) for paper in papers)
    lines = []
    for reason, _ in counted.most_common():
        models = [f"`{one['model']}`" for one in papers if _reason(one["problem"]) == reason]
        lines.append(f"- {reason}: {', '.join(models)}")
    return (
        "## What was not measured\n\n"
        "flex attention, which is compiled (`locant check --full` measures it); GPUs; training; "
        "static and quantized caches; beams; images and sound; rows longer than some tokens, "
        "except by position_ids; dynamic scaling where a config keeps rotary parameters in another "
        "form. Architectures that were not certified:\n\n" + "\n".join(lines)
    )


def _reason(problem: str) -> str:
    kind, _, text = problem.partition(": ")
    if "weights even with the small sizes" in text:
        return "too large with the small sizes (mostly models of images or sound beside text)"
    if "no attention between tokens" in text:
        return "no attention between tokens"
    if kind == "ValueError":
        return text
    if "longer than" in problem:
        return "too slow in its reference implementation"
    return "not built from the small sizes"
