"""Let a program that reads a prompt and prints an answer be the model: `COGWORKS_LLM_COMMAND="python3 /…/ask.py PROGRAM ARGUMENT…"`."""

import json
import subprocess
import sys

asked = json.load(sys.stdin)
turns = [f"<{turn['role']}>\n{turn['text']}\n</{turn['role']}>" for turn in asked["messages"]]
wanted = (
    f"Answer with one JSON object that fits this schema, and nothing else:\n{json.dumps(asked['schema'])}"
)
prompt = "\n\n".join([asked["system"], *turns, wanted])
done = subprocess.run(sys.argv[1:], input=prompt, stdout=subprocess.PIPE, encoding="utf-8", check=False)
if done.returncode:
    sys.exit(75)  # it said why on standard error; cogworks asks again later
json.dump({"text": done.stdout[done.stdout.find("{") : done.stdout.rfind("}") + 1]}, sys.stdout)
