"""Whose certificates are trusted: those that the system trusts, a company's own authority among them.

`SSL_CERT_FILE` and `SSL_CERT_DIR` count on every platform, as OpenSSL has it on Linux.
"""

from __future__ import annotations

import os
import ssl
import sys
from pathlib import Path

import truststore

_STORES = (
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
)


def context() -> ssl.SSLContext:
    """A context for clients. Reads files, so it is made when the first request over TLS is."""
    made = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if sys.platform.startswith("linux"):  # where the variables are read with the rest, at the first handshake
        if not has_store():
            import certifi  # comes with the HTTP client: what a slim container falls back to

            made.load_verify_locations(cafile=certifi.where())
        return made
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file and Path(file).is_file():
        made.load_verify_locations(cafile=file)
    if folder and Path(folder).is_dir():
        made.load_verify_locations(capath=folder)
    return made


def has_store() -> bool:
    """Whether this Linux has certificates of its own, or the variables name some."""
    usual = ssl.get_default_verify_paths()
    files = (usual.cafile, *_STORES)
    return "SSL_CERT_DIR" in os.environ or any(Path(one).is_file() for one in files if one)
