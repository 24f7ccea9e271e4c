"""Plots: numbers in, axes out. One file is one plot; this folder alone imports matplotlib, and no
torch.

Every plot has `draw(numbers…, frame=Frame(name, theme))`, which returns the axes it drew on;
`saving.save` writes them to a file.
"""

FORMATS = ("png", "svg", "pdf")
