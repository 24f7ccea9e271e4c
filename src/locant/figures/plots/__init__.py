"""Pictures: numbers in, axes out. One file is one picture; the only place that imports matplotlib, and no torch here.

Every picture has `draw(numbers…, frame=Frame(name, theme))` and gives the axes it drew on; `saving.save` writes it.
"""

FORMATS = ("png", "svg", "pdf")
