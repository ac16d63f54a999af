"""Requests to servers on this machine, in the clear: none of them loads the certificates of the world first, which takes longer than the request."""

from functools import partial

import httpx

Client = partial(httpx.Client, verify=False)
request = partial(httpx.request, verify=False)
get = partial(httpx.get, verify=False)
post = partial(httpx.post, verify=False)
put = partial(httpx.put, verify=False)
patch = partial(httpx.patch, verify=False)
delete = partial(httpx.delete, verify=False)
