"""Certify whole models: a probe, one file for each property, the certificate."""
