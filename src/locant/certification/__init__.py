"""Certificates: which properties an encoding has, measured.

certificate   all properties of one encoding, with what was measured
probe         an encoding under examination
properties    one file for each property
"""
