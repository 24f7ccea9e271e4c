"""What was measured, written for people to read. Takes plain values; needs no torch.

certificates   certificates as text, Markdown and HTML
study          a study's first table and verdict, and everything as Markdown; its parts: details, claims, controls, protocol
suite          several studies side by side
pictures       which pictures a study has (shown, picture, pictures_of_scores, pictures_of_runs make them)
page, folder   one HTML file; Markdown files with pictures (rendering: what all HTML shares)
tensorboard    event files
"""
