"""Opens doors inside the isolation, hands them out, and becomes the command that goes through them; imports nothing of cogworks."""

import os
import socket
import sys


def main(arguments: list[str]) -> None:
    """Args:
    arguments: `NUMBER=PLACEHOLDER` for each door, with the number of an open socket to its server; `--`; the command,
        in whose words and environment each placeholder becomes the address of that door.
    """
    end = arguments.index("--")
    command = arguments[end + 1 :]
    environment = dict(os.environ)
    for number, _, placeholder in (each.partition("=") for each in arguments[:end]):
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        with socket.socket(fileno=int(number)) as service:
            socket.send_fds(service, [b"1"], [listener.fileno()])
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = [word.replace(placeholder, address) for word in command]
        environment = {name: value.replace(placeholder, address) for name, value in environment.items()}
    os.execvpe(command[0], command, environment)  # noqa: S606  # a shell is what this avoids


if __name__ == "__main__":
    main(sys.argv[1:])
