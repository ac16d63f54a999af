"""Which files decide what is installed and how tests run, so that a person is asked before a model changes one."""

MANIFESTS = (
    "**/pyproject.toml", "**/setup.py", "**/setup.cfg", "**/requirements*.txt", "**/*requirements.txt", "requirements/**",
    "**/requirements/*.txt", "**/constraints*.txt", "**/Pipfile", "**/Pipfile.lock", "**/poetry.lock", "**/pdm.lock",
    "**/uv.lock", "**/pylock.toml", "**/Cargo.toml", "**/Cargo.lock", "**/package.json", "**/package-lock.json",
    "**/go.mod", "**/go.sum",
    "**/npm-shrinkwrap.json", "**/yarn.lock", "**/pnpm-lock.yaml", "**/pnpm-workspace.yaml", "**/.npmrc", "**/.yarnrc*",
    "**/pip.conf", "**/Gemfile", "**/Gemfile.lock", "**/*.gemspec", "**/composer.json", "**/composer.lock", "**/pom.xml",
    "**/build.gradle", "**/build.gradle.kts", "**/settings.gradle", "**/settings.gradle.kts", "**/libs.versions.toml",
    "**/gradle.lockfile", "**/gradle-wrapper.properties", "**/*.csproj", "**/packages.config", "**/packages.lock.json",
    "**/Directory.Packages.props",
)  # fmt: skip
"""What says what is installed, in whatever folder."""

TEST_CONFIGURATION = (
    "**/pytest.ini", "**/.pytest.ini", "**/tox.ini", "**/noxfile.py", "**/conftest.py", "**/Makefile", "**/GNUmakefile",
    "**/jest.config.*", "**/vitest.config.*",
)  # fmt: skip
"""What says which tests run, and how."""

ASKED_ABOUT = (*MANIFESTS, *TEST_CONFIGURATION)
"""Always among the patterns; configuration adds to them."""
