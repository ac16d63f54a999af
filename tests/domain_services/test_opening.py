"""Who is handed what says where packages come from, and which registries a setup may reach."""

from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.opening import BUNDLED, COMMANDS, is_bundled


def test_the_services_of_cogworks_are_and_nobody_else_s() -> None:
    others = (
        ServiceConfig(name="own", command=("./own",)),
        ServiceConfig(name="far", url="https://x.example"),
    )

    assert [is_bundled(each) for each in (BUNDLED, COMMANDS, *others)] == [True, True, False, False]
