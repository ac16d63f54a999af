"""Small projects of each way to build one, with a test that wants metadata, entry points and a program to be there."""

ABOUT = '[project]\nname = "shop"\nversion = "3.1"\n[project.scripts]\nsell = "shop.till:main"\n[project.entry-points."shop.tills"]\nown = "shop.till:main"\n'
TILL = "def main():\n    print('sold')\n"
TEST = (
    "import subprocess\nfrom importlib.metadata import entry_points, version\n\nimport shop.till\n\n\n"
    "def test_shop():\n    assert version('shop') == '3.1'\n"
    "    assert subprocess.run(['sell'], capture_output=True, text=True).stdout == 'sold\\n'\n"
    "    (found,) = entry_points(group='shop.tills')\n    assert found.load() is shop.till.main\n"
)
FAST = "\n\ndef test_fast():\n    from shop.fast import twice\n\n    assert twice(2) == 4\n"


def backend(requires: str, name: str, *, about: str = ABOUT, more: str = "") -> str:
    return f'[build-system]\nrequires = [{requires}]\nbuild-backend = "{name}"\n{about}{more}'


def laid(folder: str, *, test: str = TEST) -> dict[str, str]:
    return {f"{folder}shop/__init__.py": "", f"{folder}shop/till.py": TILL, "tests/test_shop.py": test}


SETUPTOOLS = '"setuptools>=77"'
PACKAGES_IN = '[tool.setuptools.packages.find]\nwhere = ["{}"]\n'
PROJECTS = {
    "hatchling": {"pyproject.toml": backend('"hatchling"', "hatchling.build"), **laid("src/")},
    "setuptools, flat": {
        "pyproject.toml": backend(SETUPTOOLS, "setuptools.build_meta", more='[tool.setuptools]\npackages = ["shop"]\n'),
        **laid(""),
    },
    "setuptools, src": {"pyproject.toml": backend(SETUPTOOLS, "setuptools.build_meta"), **laid("src/")},
    "setuptools, another folder": {
        "pyproject.toml": backend(SETUPTOOLS, "setuptools.build_meta", more=PACKAGES_IN.format("lib")),
        **laid("lib/"),
    },
    "setup.py alone": {
        "setup.py": "from setuptools import find_packages, setup\n\nsetup(name='shop', version='3.1', packages=find_packages('python'),"
        " package_dir={'': 'python'}, entry_points={'console_scripts': ['sell = shop.till:main'], 'shop.tills': ['own = shop.till:main']})\n",
        **laid("python/"),
    },
    "flit": {
        "pyproject.toml": backend('"flit_core>=3.9"', "flit_core.buildapi", about=ABOUT.replace('version = "3.1"', 'dynamic = ["version", "description"]')),
        **laid(""),
        "shop/__init__.py": '"""A shop."""\n\n__version__ = "3.1"\n',
    },
    "pdm": {"pyproject.toml": backend('"pdm-backend"', "pdm.backend"), **laid("src/")},
    "poetry-core": {
        "pyproject.toml": '[build-system]\nrequires = ["poetry-core>=1.9"]\nbuild-backend = "poetry.core.masonry.api"\n'
        '[tool.poetry]\nname = "shop"\nversion = "3.1"\ndescription = "A shop"\nauthors = []\npackages = [{ include = "shop", from = "src" }]\n'
        '[tool.poetry.scripts]\nsell = "shop.till:main"\n[tool.poetry.plugins."shop.tills"]\nown = "shop.till:main"\n',
        **laid("src/"),
    },
    "uv-build": {"pyproject.toml": backend('"uv_build"', "uv_build"), **laid("src/")},
    "a namespace package": {
        "pyproject.toml": backend('"hatchling"', "hatchling.build", more='[tool.hatch.build.targets.wheel]\npackages = ["src/firm"]\n').replace("shop.till:", "firm.shop.till:"),
        "src/firm/shop/__init__.py": "", "src/firm/shop/till.py": TILL,
        "tests/test_shop.py": TEST.replace("import shop.till", "import firm.shop.till").replace("is shop.till", "is firm.shop.till"),
    },
    "setuptools-scm, write_to": {
        "pyproject.toml": backend(SETUPTOOLS + ', "setuptools-scm>=8"', "setuptools.build_meta", about=ABOUT.replace('version = "3.1"', 'dynamic = ["version"]'), more='[tool.setuptools_scm]\nwrite_to = "src/shop/_version.py"\n'),
        ".gitignore": "_version.py\n",
        **laid("src/"),
        "src/shop/__init__.py": "from shop._version import version as __version__\n",
    },
    "hatch-vcs": {
        "pyproject.toml": backend('"hatchling", "hatch-vcs"', "hatchling.build", about=ABOUT.replace('version = "3.1"', 'dynamic = ["version"]'), more='[tool.hatch.version]\nsource = "vcs"\n[tool.hatch.build.hooks.vcs]\nversion-file = "src/shop/_version.py"\n'),
        ".gitignore": "_version.py\n",
        **laid("src/"),
        "src/shop/__init__.py": "from shop._version import version as __version__\n",
    },
    "poetry-dynamic-versioning": {
        "pyproject.toml": '[build-system]\nrequires = ["poetry-core>=1.9", "poetry-dynamic-versioning>=1,<2"]\nbuild-backend = "poetry_dynamic_versioning.backend"\n'
        '[tool.poetry]\nname = "shop"\nversion = "0.0.0"\ndescription = "A shop"\nauthors = []\npackages = [{ include = "shop", from = "src" }]\n'
        '[tool.poetry-dynamic-versioning]\nenable = true\n'
        '[tool.poetry.scripts]\nsell = "shop.till:main"\n[tool.poetry.plugins."shop.tills"]\nown = "shop.till:main"\n',
        **laid("src/"),
    },
    "pbr": {
        "pyproject.toml": '[build-system]\nrequires = ["pbr>=6", "setuptools>=77"]\nbuild-backend = "pbr.build"\n',
        "setup.cfg": "[metadata]\nname = shop\n[files]\npackages =\n    shop\n[entry_points]\nconsole_scripts =\n    sell = shop.till:main\nshop.tills =\n    own = shop.till:main\n",
        "setup.py": "from setuptools import setup\n\nsetup(setup_requires=['pbr'], pbr=True)\n",
        **laid("", test=TEST.replace("'3.1'", "'3.1.0'")),
    },
}  # fmt: skip
CYTHON = {
    "pyproject.toml": backend('"setuptools>=77", "cython>=3"', "setuptools.build_meta"),
    "setup.py": "from Cython.Build import cythonize\nfrom setuptools import setup\n\nsetup(ext_modules=cythonize(['src/shop/fast.pyx']))\n",
    **laid("src/", test=TEST + FAST),
    "src/shop/fast.pyx": "def twice(int x):\n    return x * 2\n",
}
"""Like the next one it needs a C compiler and the headers of Python."""
C_EXTENSION = {
    "setup.py": "from setuptools import Extension, setup\n\nsetup(name='shop', version='3.1', packages=['shop'],"
    " ext_modules=[Extension('shop.fast', ['shop/fast.c'])],"
    " entry_points={'console_scripts': ['sell = shop.till:main'], 'shop.tills': ['own = shop.till:main']})\n",
    **laid("", test=TEST + FAST),
    "shop/fast.c": "#include <Python.h>\nstatic PyObject *twice(PyObject *self, PyObject *number) { return PyNumber_Add(number, number); }\n"
    'static PyMethodDef methods[] = {{"twice", twice, METH_O, ""}, {0}};\n'
    'static struct PyModuleDef fast = {PyModuleDef_HEAD_INIT, "fast", 0, -1, methods};\n'
    "PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&fast); }\n",
}
MATURIN = {
    "pyproject.toml": '[build-system]\nrequires = ["maturin>=1"]\nbuild-backend = "maturin"\n'
    '[project]\nname = "shop"\nversion = "3.1"\n[tool.maturin]\nbindings = "bin"\n',
    "Cargo.toml": '[package]\nname = "shop"\nversion = "3.1.0"\nedition = "2021"\n',
    "src/main.rs": 'fn main() { println!("sold"); }\n',
    "tests/test_shop.py": "import subprocess\nfrom importlib.metadata import version\n\n\n"
    "def test_shop():\n    assert version('shop') == '3.1'\n"
    "    assert subprocess.run(['shop'], capture_output=True, text=True).stdout == 'sold\\n'\n",
}
"""A program of Rust without crates; needs cargo."""
