"""What a hub is known not to have: these fields are null or empty because nobody can bring the thing about here.

A field belongs here only when "none" is the truth of every hub. What a hub might well have and does not look at, such
as the licence among a repository's files, is no absence: it answers that it is not implemented.
"""

from collections.abc import Mapping

_NONE: Mapping[str, str] = {
    "App": "description",
    "CheckRun": "deployment pendingDeploymentRequest",
    "CheckSuite": "workflowRun",
    "Commit": "comments deployments pushedDate",
    "Issue": "linkedBranches projectCards projectItems projectV2 projectsV2",
    "Organization": """
        announcement announcementBanner announcementCreatedAt announcementExpiresAt announcementUserDismissible
        description location packages pinnedItems project projectV2 projects projectsV2 recentProjects ruleset rulesets
        team teams twitterUsername websiteUrl
    """,
    "PullRequest": """
        autoMergeRequest mergeQueue mergeQueueEntry projectCards projectItems projectV2 projectsV2
    """,
    "PullRequestReview": "minimizedReason onBehalfOf",
    "PullRequestReviewComment": "minimizedReason",
    "Ref": "branchProtectionRule refUpdateRule rules",
    "Repository": """
        branchProtectionRules commitComments deployKeys deployments discussion discussionCategories discussionCategory
        discussions environment environments forks homepageUrl interactionAbility latestRelease lockReason mergeQueue
        mirrorUrl packages parent pinnedDiscussions pinnedEnvironments pinnedIssues project projectV2 projects projectsV2
        recentProjects release releases repositoryTopics ruleset rulesets stargazers templateRepository
        vulnerabilityAlert vulnerabilityAlerts
    """,
    "User": """
        bio commitComments company followers following gist gistComments gists location organization organizations
        packages pinnedItems project projectV2 projects projectsV2 pronouns recentProjects savedReplies socialAccounts
        starredRepositories status twitterUsername websiteUrl
    """,
}

ABSENT: frozenset[tuple[str, str]] = frozenset(
    (type_name, name) for type_name, names in _NONE.items() for name in names.split()
)
"""`(type, field)` of everything that every hub is without."""
