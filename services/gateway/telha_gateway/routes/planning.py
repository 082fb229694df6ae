"""Context, plan and select: what may an answer use?"""

import msgspec

from telha_gateway.dto import context, planning, plans, query
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation

_SUBJECTS = {"why_not.source": "why_not"}
_RENAMES = {"query.find": "find", "query.limit": "limit", "query.where": "where", "query": "find", **_SUBJECTS}


async def _context(exchange: Exchange) -> msgspec.Struct:
    body = await exchange.body(context.ContextRequest)
    message = context.context_message(body)
    answer = await exchange.call(exchange.upstream.context.Build, message, _RENAMES)
    exchange.trace_id = answer.trace_id
    wanted = body.include is None or body.include.open_questions is not False
    return context.context_answer(answer, open_questions=wanted)


async def _plan(exchange: Exchange) -> msgspec.Struct:
    message = planning.plan_message(await exchange.body(planning.PlanRequest))
    answer = await exchange.call(exchange.upstream.planner.Plan, message, _RENAMES)
    exchange.trace_id = answer.plan.trace_id
    return plans.plan_answer(answer)


async def _select(exchange: Exchange) -> msgspec.Struct:
    message = planning.select_message(await exchange.body(planning.SelectRequest))
    answer = await exchange.call(exchange.upstream.planner.Select, message, _SUBJECTS)
    exchange.trace_id = answer.plan.trace_id
    return plans.select_answer(answer)


async def _query(exchange: Exchange) -> msgspec.Struct:
    message = query.query_message(await exchange.body(query.QueryRequest))
    return query.query_answer(await exchange.call(exchange.upstream.memory.Query, message))


_TRACE = {"getTrace": ("id", "/traceId")}
_POOL_EXAMPLE = {
    "pool": [
        {
            "span": {
                "sourceId": "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10",
                "sourceVersionTx": 1780315200000000,
                "start": 0,
                "end": 34,
            },
            "kind": "paragraph",
            "text": "Deploys to eu-west need a sign-off",
        }
    ],
    "question": "who signs off deploys?",
    "budget": {"maxTokens": 500},
}

OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/memory/context",
        id="buildContext",
        tag="Planning",
        summary="What should I remember before I act?",
        description="Budgeted, scored items. Plans exactly as `/v1/plan` does; never calls a language model.",
        body=context.ContextRequest,
        answer=context.ContextItems,
        run=_context,
        statuses=(404, 422),
        leads_to=_TRACE,
        code="CONTEXT_INVALID",
        example={"question": "how do we deploy to eu-west?", "budget": {"maxTokens": 800}},
    ),
    Operation(
        method="POST",
        path="/v1/plan",
        id="plan",
        tag="Planning",
        summary="Recall, weigh and select spans from memory",
        description="A function: the same request against the same memory as of the same instants gives the same "
        "`planHash`, on every machine. An empty pool is a 422 `INSUFFICIENT_EVIDENCE`.",
        body=planning.PlanRequest,
        answer=plans.EvidencePlan,
        run=_plan,
        statuses=(422,),
        leads_to=_TRACE,
        example={
            "question": "how do we deploy to eu-west?",
            "budget": {"maxTokens": 1500},
            "window": {"txTime": "2036-06-30T00:00:00Z"},
        },
    ),
    Operation(
        method="POST",
        path="/v1/select",
        id="select",
        tag="Planning",
        summary="Select from a pool that you send, without reading memory",
        body=planning.SelectRequest,
        answer=plans.Selection,
        run=_select,
        statuses=(422,),
        leads_to=_TRACE,
        example=_POOL_EXAMPLE,
    ),
    Operation(
        method="POST",
        path="/v1/query",
        id="queryNodes",
        tag="Memory",
        summary="Find nodes by type and by what they say",
        description="Exact, by node id, one page at a time; all pages are read at the instants that the first one "
        "resolved. No plan, and so no trace.",
        body=query.QueryRequest,
        answer=query.FoundNodes,
        run=_query,
        example={"find": "service", "where": {"tier": {"lte": 2}, "name": {"startsWith": "check"}}},
    ),
)
