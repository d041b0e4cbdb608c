"""Requests to a server of linked data.

* ``server``: the connections, and when a request is sent again.
* ``response``: an answer, read at once or bit by bit.
* ``content``: bytes of a resource as a file that is open for reading.
* ``refusals``: answers that refuse something, as exceptions.
"""
