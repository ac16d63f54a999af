"""Every REST operation the hub offers."""

from cogworks.hub.rest import (
    apps,
    checks,
    comments,
    contents,
    gitdata,
    issues,
    people,
    pulls,
    repositories,
    reviews,
    search,
)
from cogworks.hub.rest.exchange import Route

ROUTES: tuple[Route, ...] = (
    *apps.ROUTES,
    *people.ROUTES,
    *repositories.ROUTES,
    *issues.ROUTES,
    *comments.ROUTES,
    *pulls.ROUTES,
    *reviews.ROUTES,
    *gitdata.ROUTES,
    *contents.ROUTES,
    *checks.ROUTES,
    *search.ROUTES,
)
