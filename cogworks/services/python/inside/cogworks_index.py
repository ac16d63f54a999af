"""Opens the door of the package index inside the isolation, hands it out, and becomes the installer; imports nothing of cogworks."""

import os
import socket
import sys


def main(arguments: list[str]) -> None:
    """Args:
    arguments: the number of the open socket to whoever serves the index, then the installer's command, which gets
        `--index-url <address>` added.
    """
    descriptor, *command = arguments
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    with socket.socket(fileno=int(descriptor)) as service:
        socket.send_fds(service, [b"1"], [listener.fileno()])
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/simple/"
    os.execvp(command[0], [*command, "--index-url", address])  # noqa: S606  # a shell is what this avoids


if __name__ == "__main__":
    main(sys.argv[1:])
