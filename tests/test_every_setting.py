"""Every key of every configuration file changes something, and a test sees it: ignore the key, and that test fails."""

import contextlib
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from cogworks.domain_services.configuration import ServiceConfig
from cogworks.pipeline.elements import Edge, Node, Settings
from cogworks.settings.config import Config
from cogworks.tools.local import ToolFile
from cogworks.tools.policy import PolicyFile
from tests.exhaustive import of_today
from tests.ignoring import VARIABLE
from tests.named import functions

FILES: tuple[type[BaseModel], ...] = (Config, Node, Edge, Settings, ServiceConfig, PolicyFile, ToolFile)
"""What is read from config.toml, pipeline.toml, services.toml, policies/*.toml and tools/*.toml; the options of `cogworks fix` have
`tests/cycle/test_each_option.py`."""
PATIENCE_S = 110
NOT_WRITTEN = frozenset({"kind", "conditions", "condition"})
"""Fields of conditions that no key stands for: `all`, `any` and `not` are the keys."""
SEEN_BY = {
    "LlmConfig.model": "wiring/test_fix.py::test_the_environment_names_the_model_before_everything_else",
    "LlmConfig.provider": "wiring/test_fix.py::test_the_provider_of_the_options_is_opened_and_without_a_key_nobody_is_asked",
    "LlmConfig.max_output_tokens": "wiring/test_model.py::test_an_answer_may_be_as_long_as_is_configured",
    "LlmConfig.api": "wiring/test_model.py::test_the_api_of_openai_is_the_newer_one_there_and_what_is_configured_anywhere",
    "LlmConfig.fallback_model": "wiring/test_model.py::test_the_fallback_is_asked_where_the_model_stays_overloaded",
    "ModelChoice.model": "engine/test_visit.py::test_a_node_asks_the_model_that_is_named_for_it_or_its_lane",
    "LlmConfig.stall_timeout_s": "wiring/test_model.py::test_a_reply_of_which_nothing_comes_for_as_long_as_is_configured_is_given_up",
    "LlmConfig.prices": "wiring/test_model.py::test_a_call_costs_what_is_configured_for_its_kinds_of_tokens",
    "Price.input": "wiring/test_model.py::test_a_call_costs_what_is_configured_for_its_kinds_of_tokens",
    "Price.output": "wiring/test_model.py::test_a_call_costs_what_is_configured_for_its_kinds_of_tokens",
    "Price.cache_write": "wiring/test_model.py::test_a_call_costs_what_is_configured_for_its_kinds_of_tokens",
    "Price.cache_read": "wiring/test_model.py::test_a_call_costs_what_is_configured_for_its_kinds_of_tokens",
    "BudgetConfig.pipeline_max_cost_dollars": "engine/test_step_budget.py::test_the_next_steps_read_once_and_write_nothing",
    "BudgetConfig.small_max_cost_dollars": "engine/test_step_lanes.py::test_the_small_lane_has_a_budget_that_the_repository_configures",
    "BudgetConfig.pipeline_max_tokens": "engine/test_step_budget.py::test_tokens_have_a_limit_of_their_own",
    "BudgetConfig.sub_work_item_max_retries": "engine/test_step_pipelines.py::test_how_often_a_model_is_asked_again_is_said_by_the_node_else_the_pipeline_else_the_configuration",
    "LabelConfig.trigger": "forge/test_observe.py::test_an_input_label_that_the_team_renamed_is_the_one_that_counts",
    "LabelConfig.hold": "forge/test_observe.py::test_an_input_label_that_the_team_renamed_is_the_one_that_counts",
    "LabelConfig.cancel": "forge/test_observe.py::test_an_input_label_that_the_team_renamed_is_the_one_that_counts",
    "LabelConfig.safety_critical": "forge/test_observe.py::test_an_input_label_that_the_team_renamed_is_the_one_that_counts",
    "LabelConfig.restart": "forge/test_inbox.py::test_a_label_that_the_team_renamed_asks_for_what_it_stands_for",
    "LabelConfig.awaiting_review": "forge/test_surface.py::test_a_label_that_the_team_renamed_is_the_one_that_is_set",
    "LabelConfig.sub_work_item": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "PathConfig.specs": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "LedgerConfig.checkpoint_usd": "engine/test_visit.py::test_money_beyond_the_limit_is_told_to_the_ledger_at_once",
    "LedgerConfig.keep_days": "upkeep/test_archiving.py::test_the_repository_says_how_long_a_ledger_stays_unless_the_operator_does",
    "LedgerConfig.writers": "engine/test_step_ledger_writers.py::test_a_ledger_whose_tip_nobody_named_has_made_stops_the_item",
    "CommandConfig.allowed_apps": "engine/test_visit_trust.py::test_an_author_who_is_gone_and_an_app_that_is_not_named_are_not_trusted",
    "IsolationConfig.require": "engine/test_visit_trust.py::test_safety_and_the_team_s_wish_need_walls_whoever_wrote_the_issue",
    "SecurityConfig.injection": "engine/test_step_injections.py::test_a_hostile_issue_waits_unless_the_repository_wants_it_only_marked",
    "DependencyConfig.changes": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "DependencyConfig.manifests": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "SightConfig.first_view_tokens": "nodes/test_shown.py::test_a_view_has_the_room_that_is_configured",
    "SightConfig.max_turns": "nodes/test_shown.py::test_a_node_has_the_turns_that_are_configured_for_it_and_its_usual_ones_else",
    "SightConfig.max_tokens": "nodes/test_shown.py::test_looks_end_at_the_tokens_that_are_configured",
    "CodingConfig.memory": "engine/test_remember.py::test_what_became_of_earlier_visits_stands_in_the_header_of_the_log",
    "EnvironmentConfig.mode": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.setup": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.python": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.install": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.extras": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.groups": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.requirements": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.packages": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "EnvironmentConfig.variables": "wiring/test_services.py::test_every_key_of_the_environment_reaches_the_services",
    "TestsConfig.command": "wiring/test_services.py::test_a_service_is_told_what_its_own_table_says",
    "TestsConfig.timeout_s": "wiring/test_services.py::test_the_suite_may_take_as_long_as_the_repository_says",
    "TestsConfig.baseline": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "TestsConfig.writer": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "TestsConfig.warn_only": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "TestsConfig.semantic_check": "codegen/test_test_judging.py::test_it_is_off_unless_the_repository_asks_for_it",
    "AuditConfig.prompts": "wiring/test_model.py::test_the_words_of_a_visits_prompts_are_kept_only_when_they_are_wanted",
    "AuditConfig.max_prompt_tokens": "wiring/test_model.py::test_the_words_of_a_visits_prompts_are_kept_only_when_they_are_wanted",
    "ContextPackConfig.shipped": "engine/test_step_packs.py::test_packs_that_ship_are_considered_where_the_repository_asks_for_them_and_have_the_room_it_gives",
    "ContextPackConfig.max_tokens": "engine/test_step_packs.py::test_packs_that_ship_are_considered_where_the_repository_asks_for_them_and_have_the_room_it_gives",
    "ChangeLimits.max_loc_changes": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "ChangeLimits.max_files_per_diff": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "ChangeLimits.max_files_beyond_plan": "security/test_files_outside_the_plan.py::test_only_so_many_files_are_granted",
    "ChangeLimits.mistakes_s": "codegen/test_noticing.py::test_the_repository_says_how_long_mistakes_are_tried",
    "ChangeLimits.max_total_churn": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "ProbeConfig.investigations_enabled": "codegen/test_probing.py::test_suspects_are_probed_and_whoever_tries_again_is_told_the_likeliest_place_and_the_facts",
    "ProbeConfig.max_probes": "codegen/test_probing.py::test_the_settings_say_how_many_probes_there_are",
    "ProbeConfig.probe_pool": "codegen/test_probing.py::test_the_log_is_the_same_for_any_number_of_probes_at_a_time",
    "ProbeConfig.probe_seconds": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "PullRequestConfig.remarks_at_lines": "engine/test_step_pipelines.py::test_what_the_repository_configured_reaches_every_node",
    "PullRequestConfig.closes_issue": "end_to_end/test_endings.py::test_a_repository_may_close_its_issues_by_hand",
    "PullRequestConfig.conflict_repairs": "engine/test_step_conflicts.py::test_after_the_limit_a_person_is_asked_once",
    "PullRequestConfig.ci_repairs": "engine/test_step_checks.py::test_after_the_limit_a_person_is_asked_once",
    "LaneConfig.lane": "engine/test_step_lanes.py::test_the_repository_says_which_lane_its_items_take",
    "ApprovalConfig.valid_hours": "engine/test_step_approvals.py::test_an_approval_that_lapsed_before_the_visit_could_go_on_is_asked_for_anew_with_the_reason",
    "Node.id": "pipeline/test_decision.py::test_a_new_run_starts_with_the_first_node",
    "Node.type": "nodes/test_from_prompt.py::test_the_answer_that_fits_the_repositorys_schema_is_the_output",
    "Node.scope": "pipeline/test_decision.py::test_nodes_follow_one_another_sub_item_after_sub_item",
    "Node.title": "pipeline/test_render.py::test_mermaid_puts_the_sub_item_nodes_in_a_box",
    "Node.inputs": "nodes/test_deterministic_nodes.py::test_paths_that_no_machine_may_write_are_told",
    "Node.outputs": "engine/test_tasks.py::test_one_slot_is_the_whole_output_and_several_are_its_keys",
    "Node.gate": "engine/test_step_people.py::test_an_approval_that_names_the_head_opens_the_gate",
    "Node.produces_code": "nodes/test_from_prompt.py::test_files_become_a_commit_and_a_pull_request_on_the_nodes_branch",
    "Node.slug": "pipeline/test_position.py::test_slugs_carry_the_position_of_their_sub_item",
    "Node.timeout_seconds": "engine/test_time_limits.py::test_what_is_left_shrinks_to_nothing_and_no_further",
    "Node.cost_budget_usd": "pipeline/test_limits.py::test_a_node_reserves_its_own_budget_else_what_it_may_spend_unsaid",
    "Node.max_retries": "engine/test_step_pipelines.py::test_how_often_a_model_is_asked_again_is_said_by_the_node_else_the_pipeline_else_the_configuration",
    "Node.combined": "engine/test_step_lanes.py::test_the_lane_small_reviews_in_one_question",
    "Node.validation": "nodes/test_from_prompt.py::test_what_the_service_finds_goes_back_and_leaves_no_trace",
    "Node.evaluation": "pipeline/test_routing.py::test_explicit_evaluation_takes_what_the_output_names_among_the_declared",
    "Node.next_edges": "pipeline/test_routing.py::test_explicit_evaluation_takes_what_the_output_names_among_the_declared",
    "Node.abort_siblings_on_failure": "engine/test_step_siblings.py::test_a_failed_sibling_stops_the_visit_of_another_runner_before_it_is_recorded",
    "Node.method": "nodes/test_deterministic_nodes.py::test_blocking_diagnostics_are_an_output_that_did_not_pass",
    "Node.call": "nodes/test_deterministic_nodes.py::test_blocking_diagnostics_are_an_output_that_did_not_pass",
    "Node.prompt": "nodes/test_from_prompt.py::test_the_answer_that_fits_the_repositorys_schema_is_the_output",
    "Node.output_schema": "nodes/test_from_prompt.py::test_the_answer_that_fits_the_repositorys_schema_is_the_output",
    "Node.issue_template": "nodes/test_spawning.py::test_a_template_renders_each_body_and_the_link_can_be_left_out",
    "Node.labels": "nodes/test_deterministic_nodes.py::test_labels_are_set_on_the_issue",
    "Node.link": "nodes/test_spawning.py::test_a_template_renders_each_body_and_the_link_can_be_left_out",
    "Edge.id": "pipeline/test_routing.py::test_explicit_evaluation_takes_what_the_output_names_among_the_declared",
    "Edge.source": "pipeline/test_frontier.py::test_a_fan_out_makes_all_targets_ready_in_declared_order",
    "Edge.target": "pipeline/test_frontier.py::test_a_fan_out_makes_all_targets_ready_in_declared_order",
    "Edge.rework": "pipeline/test_built_in.py::test_review_sends_back_five_times_and_then_escalates",
    "ExpressionCondition.expr": "engine/test_step_routing.py::test_what_was_looked_at_is_kept_beside_the_visit_and_told_in_its_commit",
    "ModelCondition.question": "engine/test_step_routing.py::test_a_condition_for_a_model_is_decided_in_a_visit_of_its_own",
    "ModelCondition.fallback": "engine/test_step_routing.py::test_without_a_usable_answer_the_fallback_decides_and_says_why",
    "Rework.max_traversals": "pipeline/test_built_in.py::test_review_sends_back_five_times_and_then_escalates",
    "Rework.preserve": "engine/test_tasks.py::test_rework_brings_back_the_outputs_it_preserves_and_no_other_discarded_one",
    "Rework.overflow": "pipeline/test_routing.py::test_an_overflow_can_take_an_edge_instead",
    "Rework.overflow_edge": "pipeline/test_routing.py::test_an_overflow_can_take_an_edge_instead",
    "Settings.default_timeout_seconds": "engine/test_time_limits.py::test_a_node_that_is_late_has_failed_and_the_limit_is_named",
    "Settings.default_cost_budget_usd": "pipeline/test_limits.py::test_the_default_of_the_pipeline_is_a_budget_of_every_node",
    "Settings.max_node_retries": "engine/test_step_pipelines.py::test_how_often_a_model_is_asked_again_is_said_by_the_node_else_the_pipeline_else_the_configuration",
    "Settings.max_concurrent_llm_calls": "engine/test_step_siblings.py::test_no_more_runners_ask_a_model_at_once_than_the_pipeline_allows",
    "Settings.cost_budget_usd": "pipeline/test_limits.py::test_the_budget_of_the_pipeline_wins_over_that_of_the_repository",
    "Settings.parallel_sub_items": "pipeline/test_frontier.py::test_sub_items_one_after_the_other_unless_one_waits_for_a_person",
    "ServiceConfig.name": "wiring/test_services.py::test_a_service_is_tried_as_often_as_the_configuration_says",
    "ServiceConfig.kind": "wiring/test_services.py::test_a_python_service_needs_no_command",
    "ServiceConfig.root": "services/test_roots.py::test_a_test_goes_to_the_folder_it_lies_in",
    "ServiceTests.command": "wiring/test_services.py::test_a_service_is_told_what_its_own_table_says",
    "ServiceConfig.role": "cli/test_doctor.py::test_each_service_is_tried_as_a_step_would",
    "ServiceConfig.command": "wiring/test_services.py::test_the_services_of_the_default_branch_are_asked",
    "ServiceConfig.language": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.setup": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.test": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.test_one": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.lint": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.format": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.report": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.report_file": "wiring/test_services.py::test_each_key_of_the_service_of_commands_is_obeyed",
    "ServiceConfig.socket": "services/test_serving.py::test_the_python_service_passes_the_conformance_suite",
    "ServiceConfig.url": "domain_services/test_configuration.py::test_a_service_is_far_when_it_does_not_see_our_files",
    "ServiceConfig.artifacts": "wiring/test_services.py::test_a_service_is_asked_about_the_files_that_the_configuration_names",
    "ServiceConfig.timeouts": "wiring/test_services.py::test_times_and_patience_are_what_the_configuration_says",
    "ServiceConfig.attempts": "wiring/test_services.py::test_a_service_is_tried_as_often_as_the_configuration_says",
    "ServiceConfig.breaker_failures": "wiring/test_services.py::test_times_and_patience_are_what_the_configuration_says",
    "ServiceConfig.token_env": "services/test_serving.py::test_beyond_plain_http_a_certificate_and_a_token_are_wanted",
    "ServiceConfig.ca_file": "services/test_serving.py::test_beyond_plain_http_a_certificate_and_a_token_are_wanted",
    "ServiceConfig.shares_files": "domain_services/test_configuration.py::test_a_service_is_far_when_it_does_not_see_our_files",
    "PolicyFile.profile": "tools/test_policy.py::test_loosening_the_built_in_policy_is_refused_with_the_key",
    "PolicyFile.summary": "tools/test_policy.py::test_a_policy_may_say_what_it_is_for_and_what_metadata_a_run_has_to_have",
    "PolicyFile.effects": "tools/test_policy.py::test_loosening_the_built_in_policy_is_refused_with_the_key",
    "PolicyFile.approval_for": "tools/test_policy.py::test_loosening_the_built_in_policy_is_refused_with_the_key",
    "PolicyFile.max_steps": "tools/test_policy.py::test_loosening_the_built_in_policy_is_refused_with_the_key",
    "PolicyFile.max_cost": "cli/test_tools.py::test_a_budget_ends_with_5",
    "PolicyFile.metadata_schema": "tools/test_policy.py::test_a_policy_may_say_what_it_is_for_and_what_metadata_a_run_has_to_have",
    "Rule.input_schema": "tools/test_policy.py::test_a_repository_tightens_and_the_rest_stays",
    "Rule.metadata_schema": "tools/test_policy.py::test_metadata_is_checked_by_the_profile_and_by_the_tool",
    "Rule.scope": "tools/test_executor.py::test_a_handler_is_told_profile_scope_metadata_and_time",
    "Rule.requires_approval": "tools/test_policy.py::test_loosening_the_built_in_policy_is_refused_with_the_key",
    "Rule.timeout_s": "tools/test_policy.py::test_loosening_the_built_in_policy_is_refused_with_the_key",
    "ToolFile.name": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.profiles": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.description": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.command": "tools/test_local.py::test_a_command_is_told_input_scope_and_metadata_in_the_repository",
    "ToolFile.capabilities": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.effects": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.idempotent": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.requires_approval": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.cost": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.latency": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.timeout_s": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.input_schema": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.output_schema": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
    "ToolFile.scope_schema": "tools/test_local.py::test_a_declaration_is_registered_with_everything_it_says",
}  # fmt: skip
"""Key -> the test that sees what it does, below `tests/`."""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


@cache
def keys() -> dict[str, str]:
    """`<class>.<field>` of every key that holds a value -> `<module>:<class>.<field>`; tables hold keys, not values."""
    found: dict[str, str] = {}
    waiting, known = list(FILES), set()
    while waiting:
        model = waiting.pop()
        if model in known:
            continue
        known.add(model)
        for name, field in model.model_fields.items():
            inner = list(_models(field.annotation))
            waiting += inner
            is_table = bool(inner) and name not in ("prices", "rework")
            if not is_table and (name not in NOT_WRITTEN or model is ServiceConfig):
                found[f"{model.__name__}.{name}"] = f"{model.__module__}:{model.__name__}.{name}"
    return found


def test_every_key_has_a_test_that_is_there() -> None:
    places = [seen.partition("::") for seen in SEEN_BY.values()]
    lost = [f"{path}::{name}" for path, _, name in places if name not in functions(f"tests/{path}")]

    assert sorted(SEEN_BY) == sorted(keys())
    assert lost == []


def _run(place: str, tests: Sequence[str]) -> None:
    """Ends this process as pytest would end; an empty place ignores nothing."""
    os.environ[VARIABLE] = place
    with (
        Path(os.devnull).open("w") as nothing,
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(nothing),
    ):
        # What is imported already cannot be rewritten, and need not be.
        quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        options = ["-q", "-x", "-p", "tests.ignoring", "-p", "no:cacheprovider", "-p", "no:xdist", *quiet]
        code = pytest.main([*options, *(f"tests/{each}" for each in tests)])
    os._exit(code)


def ended(place: str, *tests: str) -> int | None:
    """How pytest ended in a process of its own; None: it did not end in time."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["tests.preloaded"])
    process = forks.Process(target=_run, args=(place, tests))
    process.start()
    process.join(PATIENCE_S)
    code = process.exitcode
    process.kill()
    return code


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_with_nothing_ignored_all_of_these_tests_pass() -> None:
    assert ended("", *dict.fromkeys(SEEN_BY.values())) == pytest.ExitCode.OK


@pytest.mark.slow
@pytest.mark.parametrize("key", of_today(SEEN_BY, days=4))
def test_ignoring_a_key_makes_its_test_fail(key: str) -> None:
    # Without some keys not even the graphs of a module can be made; that these tests pass otherwise is tested above.
    assert ended(keys()[key], SEEN_BY[key]) not in (pytest.ExitCode.OK, None)
