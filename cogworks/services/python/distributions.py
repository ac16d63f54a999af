"""Which distribution a module comes from: what is installed here knows, and a table of the usual exceptions."""

from collections.abc import Mapping
from importlib.metadata import packages_distributions

from packaging.utils import canonicalize_name

_EXCEPTIONS = {
    "attr": "attrs", "bs4": "beautifulsoup4", "bson": "pymongo", "Crypto": "pycryptodome", "Cryptodome": "pycryptodomex", "cv2": "opencv-python",
    "dateutil": "python-dateutil", "discord": "discord.py", "docx": "python-docx", "dotenv": "python-dotenv", "factory": "factory-boy", "fitz": "PyMuPDF",
    "git": "GitPython", "github": "PyGithub", "jose": "python-jose", "jwt": "PyJWT", "Levenshtein": "python-Levenshtein",
    "ldap": "python-ldap", "magic": "python-magic", "MySQLdb": "mysqlclient", "nacl": "PyNaCl", "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow", "pkg_resources": "setuptools", "pptx": "python-pptx", "psycopg2": "psycopg2-binary", "pythoncom": "pywin32",
    "rest_framework": "djangorestframework", "ruamel": "ruamel.yaml", "serial": "pyserial", "skimage": "scikit-image",
    "sklearn": "scikit-learn", "slugify": "python-slugify", "socks": "PySocks", "telegram": "python-telegram-bot",
    "tlz": "toolz", "usb": "pyusb", "win32api": "pywin32", "wx": "wxPython", "xdist": "pytest-xdist", "yaml": "PyYAML",
    "zmq": "pyzmq", "_pytest": "pytest", "mpl_toolkits": "matplotlib", "gi": "PyGObject", "cairo": "pycairo",
    "markdown": "Markdown", "jinja2": "Jinja2", "flask_sqlalchemy": "Flask-SQLAlchemy", "mock": "mock", "IPython": "ipython",
}  # fmt: skip
"""Module -> distribution, where the names differ by more than signs."""
WITH_PKG_RESOURCES = "setuptools<80.9"
"""Later ones warn of `pkg_resources` whoever imports it, and the newest lack it."""
_PLAIN = frozenset(
    [
        "aiohttp",
        "alembic",
        "arrow",
        "asyncpg",
        "attrs",
        "babel",
        "black",
        "boto3",
        "botocore",
        "build",
        "cachetools",
        "celery",
        "certifi",
        "chardet",
        "click",
        "coverage",
        "cryptography",
        "cython",
        "dask",
        "django",
        "docutils",
        "fastapi",
        "filelock",
        "flake8",
        "flask",
        "freezegun",
        "gevent",
        "griffe",
        "gunicorn",
        "h5py",
        "httpx",
        "hypothesis",
        "isort",
        "jinja2",
        "joblib",
        "jsonschema",
        "keyring",
        "loguru",
        "lxml",
        "markdown",
        "marshmallow",
        "matplotlib",
        "more-itertools",
        "msgpack",
        "mypy",
        "networkx",
        "nltk",
        "nox",
        "numba",
        "numpy",
        "openai",
        "orjson",
        "packaging",
        "pandas",
        "paramiko",
        "peewee",
        "pip",
        "platformdirs",
        "pluggy",
        "pre-commit",
        "prometheus-client",
        "psutil",
        "pyarrow",
        "pydantic",
        "pygments",
        "pylint",
        "pymongo",
        "pyparsing",
        "pyright",
        "pytest",
        "redis",
        "regex",
        "requests",
        "respx",
        "rich",
        "ruff",
        "scipy",
        "scrapy",
        "seaborn",
        "selenium",
        "setuptools",
        "simplejson",
        "six",
        "sphinx",
        "sqlalchemy",
        "starlette",
        "statsmodels",
        "structlog",
        "sympy",
        "tabulate",
        "tenacity",
        "termcolor",
        "toml",
        "tomlkit",
        "toolz",
        "torch",
        "tornado",
        "tox",
        "tqdm",
        "transformers",
        "twine",
        "typer",
        "typing-extensions",
        "ujson",
        "urllib3",
        "uvicorn",
        "virtualenv",
        "watchdog",
        "websockets",
        "werkzeug",
        "wheel",
        "xarray",
    ]
)
"""Distributions whose one module is called like them."""


class Catalogue:
    """What is known of modules and the distributions that bring them."""

    def __init__(self, installed: Mapping[str, list[str]] | None = None) -> None:
        """Args:
        installed: module -> distributions; None: of this interpreter.
        """
        self._bringing: dict[str, set[str]] = {}
        for module, names in (packages_distributions() if installed is None else installed).items():
            self._bringing.setdefault(module, set()).update(map(canonicalize_name, names))
        for module, name in _EXCEPTIONS.items():
            self._bringing.setdefault(module, set()).add(canonicalize_name(name))
        for name in _PLAIN:
            self._bringing.setdefault(name.replace("-", "_"), set()).add(canonicalize_name(name))
        self._known = frozenset(name for names in self._bringing.values() for name in names)

    def bringing(self, module: str) -> frozenset[str]:
        """The distributions that are known to bring a module, by its first part."""
        return frozenset(self._bringing.get(module, ()))

    def is_known(self, distribution: str) -> bool:
        """Whether it is known what a distribution brings; of plugins and stubs, that it is nothing to import."""
        return distribution in self._known or distribution.startswith(
            ("types-", "pytest-", "sphinx-", "flake8-")
        )

    def may_bring(self, distribution: str, dotted: str) -> bool:
        """Whether a distribution brings a module, for certain or by its name."""
        top = dotted.split(".", maxsplit=1)[0]
        if distribution in self.bringing(top):
            return True
        module = canonicalize_name(top)
        spellings = {
            module,
            f"python-{module}",
            f"py{module}",
            f"{module}-python",
            f"{module}-py",
            f"{module}-binary",
        }
        # Parts of a namespace are distributed one by one: google.cloud.storage, zope.interface.
        return distribution in spellings or distribution.startswith(f"{module}-")
