"""What code of each language reaches beyond itself, by its syntax alone."""

import pytest

from cogworks.grammars.capabilities import uses_of
from cogworks.grammars.languages.capable import REACHES
from cogworks.grammars.languages.registry import LANGUAGES, grammar_of

PYTHON = """
import subprocess as sp
from os import system as shout
import os, urllib.request, yaml

sp.run(["ls"])
shout("ls")
os.remove("a")
eval("1")
yaml.load(text)
import pickle
"""
SCRIPT = """
const { exec: e } = require('child_process')
import http from 'node:http'
fetch('https://example.org')
new Function('a')
require('fs').unlinkSync('a')
require('node-serialize')
"""
GO = """package a
import (
  "os/exec"
  web "net/http"
  "encoding/gob"
  "os"
  "plugin"
)
func f() { os.RemoveAll("a") }
"""
RUST = """
use std::process::Command;
use std::{net::TcpStream, fs};
fn f() { fs::remove_file("a"); unsafe { libloading::Library::new("a") }; serde_pickle::from_slice(b); }
"""
JAVA = """
import java.net.Socket;
import java.io.ObjectInputStream;
class A { void f() { Runtime.getRuntime().exec("ls"); Class.forName("B"); Files.delete(p); } }
"""
C = """
#include <sys/socket.h>
#include <dlfcn.h>
int f() { system("ls"); return unlink("a"); }
"""
C_SHARP = """
using System.Net.Http;
class A { void F() { Process.Start("ls"); Assembly.Load(b); new BinaryFormatter(); File.Delete("a"); } }
"""
RUBY = """
require 'net/http'
`ls`
Marshal.load(text)
eval text
File.delete("a")
"""
PHP = """<?php
use GuzzleHttp\\Client;
`ls`;
unserialize($text);
eval($text);
unlink("a");
"""
ALL = {"network", "processes", "evaluation", "deserialisation", "files"}


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", PYTHON, ALL),
        ("a.js", SCRIPT, ALL),
        ("a.ts", SCRIPT, ALL),
        ("a.tsx", SCRIPT, ALL),
        ("a.go", GO, ALL),
        ("a.rs", RUST, ALL - {"deserialisation"}),
        ("A.java", JAVA, ALL),
        ("a.c", C, ALL - {"deserialisation"}),
        ("a.cpp", C, ALL - {"deserialisation"}),
        ("A.cs", C_SHARP, ALL),
        ("a.rb", RUBY, ALL),
        ("a.php", PHP, ALL),
    ],
)
def test_each_language_is_read_by_its_own_ways(path: str, text: str, found: set[str]) -> None:
    assert {each.capability for each in uses_of(path, text) or ()} == found


def test_no_language_that_is_read_is_left_out() -> None:
    assert {spec.name for spec in (*LANGUAGES, grammar_of("a.py")) if spec} == set(REACHES)


def test_places_are_told_with_their_line_and_in_the_words_of_the_code() -> None:
    assert [(each.line, each.capability, each.what) for each in uses_of("a.py", PYTHON) or ()] == [
        (2, "processes", "subprocess"),
        (3, "processes", "os, system"),
        (4, "network", "urllib.request"),
        (7, "processes", "shout"),
        (8, "files", "os.remove"),
        (9, "evaluation", "eval"),
        (10, "deserialisation", "yaml.load"),
        (11, "deserialisation", "pickle"),
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "from urllib.parse import urlsplit\nimport os.path, json\nmodel.eval()\nre.compile('a')\n"),
        ("a.py", "def eval(text):\n    return text\n\n\neval('1')\n"),
        ("a.py", "from .socket import Socket\nfrom . import http\nfrom requests.exceptions import Timeout\n"),
        ("a.js", "import http from './http'\nimport { fetch } from './mine'\nfetch('a')\nx.exec(text)\n"),
        ("a.go", 'package a\nimport (\n"net/url"\n"example.org/os/exec"\n)\n'),
        ("a.rs", "use std::net::IpAddr;\nuse std::process;\n"),
        ("A.java", "import java.net.URI;\nimport java.net.URLEncoder;\n"),
        ("a.rb", "model.system\nreader.load(text)\n"),
        ("a.php", "<?php\n$pdo->exec('select 1');\n"),
    ],
)
def test_what_only_looks_like_it_is_none(path: str, text: str) -> None:
    assert uses_of(path, text) == ()


@pytest.mark.parametrize(("path", "text"), [("a.md", "eval"), ("a.py", "import socket\n\0")])
def test_what_no_grammar_reads_is_said_to_be_unread(path: str, text: str) -> None:
    assert uses_of(path, text) is None
