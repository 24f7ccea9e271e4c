"""A short tour: self-attention loses the order of its tokens; an encoding gives it back."""

from __future__ import annotations

import torch

import locant

SENTENCE = ["the", "cat", "chased", "the", "mouse"]
SHUFFLE = torch.tensor([0, 4, 2, 3, 1])  # the mouse chased the cat


def difference(name: str) -> float:
    """How far the outputs move when the tokens are shuffled, beyond the shuffle itself."""
    torch.manual_seed(0)
    words = {word: row for row, word in enumerate(dict.fromkeys(SENTENCE))}
    x = torch.randn(len(words), 64)[[words[word] for word in SENTENCE]][None]  # (1, T, D)
    pos = locant.positions.consecutive(len(SENTENCE))
    model = locant.Transformer(locant.make(name, dim=64, heads=4, length=16), layers=2).eval()
    with torch.no_grad():
        return (model(x, pos)[:, SHUFFLE] - model(x[:, SHUFFLE], pos)).abs().max().item()


def main() -> None:
    shuffled = " ".join(SENTENCE[index] for index in SHUFFLE)
    print(f"A fresh two-layer encoder reads “{' '.join(SENTENCE)}”, then “{shuffled}”.")
    print("Largest difference between its outputs, word by word:\n")
    for name in locant.names():
        moved = difference(name)
        verdict = "the two sentences are one and the same" if moved < 1e-5 else "order is seen"
        print(f"  {name:12} {moved:10.7f}   {verdict}")
    print()


if __name__ == "__main__":
    main()
