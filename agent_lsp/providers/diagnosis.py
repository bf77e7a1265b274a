"""Why a connection failed, and what somebody can do about it, in one line: told from an exception and its causes."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from agent_lsp.providers.failure import PROXY_LOGIN, Reason

_CA_VARIABLE = "SSL_CERT_FILE"


def diagnose(error: BaseException, url: str, *, is_loopback: bool) -> tuple[Reason, str] | None:
    """The reason and what to say of it; None where the error says all there is. No part of `url` but its host is said.

    `is_loopback`: the request went to this machine, which no proxy is asked about.
    """
    causes = list(_causes(error))
    where = _host_and_port(url)
    proxy = None if is_loopback else _proxy_for(url)
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "certificate", _distrusted(where, cause)
        if isinstance(cause, ssl.SSLError):
            return "connect", f"{proxy or where} answers, but not in TLS: is https right?"
        if isinstance(cause, socket.gaierror):
            return "connect", _unknown(proxy or where, is_proxy=proxy is not None)
        if isinstance(cause, ConnectionRefusedError | TimeoutError):
            return "connect", _silent(where, proxy, is_loopback=is_loopback)
    said = str(error)
    if type(error).__name__ == "ProxyError":  # not imported for its name: only one module knows the HTTP library
        return ("proxy", PROXY_LOGIN) if said.startswith("407") else ("connect", f"the proxy {proxy} refuses: {said}")
    return None


def _distrusted(where: str, error: ssl.SSLCertVerificationError) -> str:
    why = error.verify_message or "it cannot be verified"
    named = os.environ.get(_CA_VARIABLE)
    if named and not os.access(named, os.R_OK):
        return f"{where} is not trusted ({why}), and {_CA_VARIABLE} names a file that cannot be read: {named}"
    return (
        f"{where} is not trusted ({why}). If it is your company's, or its proxy opens TLS, install the company's root"
        f" certificate in the system, or name its file in {_CA_VARIABLE}"
    )


def _unknown(host: str, *, is_proxy: bool) -> str:
    if is_proxy:
        return f"the proxy {host} is not known here: correct HTTPS_PROXY, or unset it"
    return f"no address is known for {host}: is this machine online, is base_url right, is HTTPS_PROXY to be set?"


def _silent(where: str, proxy: str | None, *, is_loopback: bool) -> str:
    if proxy:
        return f"nothing answers at the proxy {proxy}: correct HTTPS_PROXY, or unset it"
    if is_loopback:
        return f"nothing answers at {where}: start the model server, or correct base_url"
    return f"nothing answers at {where}: is this machine online, is HTTPS_PROXY to be set?"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, then what led to it."""
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [cause for cause in (one.__cause__, one.__context__) if cause is not None]


def _proxy_for(url: str) -> str | None:
    """Host and port of the proxy that such a request goes through."""
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return _host_and_port(proxy) if proxy and not proxy_bypass(parts.hostname or "") else None


def _host_and_port(url: str) -> str:
    """Where the URL leads, without a name or a password that is in it."""
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the server"
    return f"{parts.hostname or 'the server'}{port}"
