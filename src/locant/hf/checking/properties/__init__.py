"""One file for each property of a whole model, with

NAME      its name on a certificate
SENTENCE  what holds for a model that has it
BOUND     up to where a difference is none
WHY       why the bound is where it is
REMEDY    what to do where it fails
measure   measures it on a `ModelProbe` and returns a `ModelResult`
"""
