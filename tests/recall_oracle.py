"""
S(n) by the book: docs/scoring.md in plain Python floats over rows read from the tables, as slow and literal as it gets.

It shares nothing with the product but the analysis of the question, the fusion and the token estimate, which have
their own tests.
"""

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import sqlalchemy as sa
from recall_oracle_arithmetic import HOUR, dot, idf_of, midnight, overlap, quantised, rounded, terms_of, tokens_of
from recall_oracle_told import LookedAt, Row, Told
from telha_planner.core.fusion import fuse_one
from telha_planner.core.request import Leg
from telha_planner.memory import tables
from telha_planner.memory.store import Store
from telha_planner.models.dates import named_days
from telha_planner.models.speakers import speaker_id
from telha_planner.models.stop_words import question_terms, telling_terms
from telha_planner.models.word_forms import forms_of
from telha_planner.recall.ports import RecallQuery


class Oracle:
    """Reads a tenant's tables and answers queries."""

    def __init__(
        self, store: Store, tenant: int, pool_nodes: int = 2000, hub_cap: int = 32, ordinary: int = 1024
    ) -> None:
        self.pool_nodes, self.hub_cap, self.ordinary = pool_nodes, hub_cap, ordinary
        with store.reading(tenant) as connection:
            self.rows: dict[str, list[Any]] = {
                table.name: list(connection.execute(sa.select(table).where(table.c.tenant == tenant)))
                for table in tables.metadata.sorted_tables
                if "tenant" in table.c and table.name not in ("api_key", "tenant")
            }

    def __call__(self, query: RecallQuery) -> Told:  # noqa: C901, PLR0912 - follows the page from top to bottom
        valid_t, tx_t, scoring = query.valid_t, query.tx_t, query.scoring
        known = lambda row: row.tx_from <= tx_t < row.tx_to  # noqa: E731
        valid = lambda row: row.valid_from <= valid_t < row.valid_to  # noqa: E731
        spaces = {row.space_no: row.name for row in self.rows["space"]}
        nodes = {
            row.node_no: row
            for row in self.rows["node"]
            if query.spaces is None or spaces[row.space_no] in query.spaces
        }
        version = {
            row.node_no: row for row in self.rows["node_version"] if row.node_no in nodes if known(row) and valid(row)
        }
        ident = {no: nodes[no].node_id for no in version}
        edges = [
            row
            for row in self.rows["edge"]
            if known(row) and valid(row) and row.from_node_no in version and row.to_node_no in version
            if row.from_node_no != row.to_node_no
        ]
        terms = {no: terms_of(row) for no, row in version.items()}

        lexical_raw = dict.fromkeys(version, 0.0)
        contributions: list[dict[int, float]] = []
        asked: list[tuple[float, float, dict[int, float]]] = []
        any_itself = False
        if query.question is not None:
            documents = [no for no in version if version[no].term_total]
            everywhere = max(len(documents), 4096)
            every_form = forms_of(query.question) if scoring.form_weight else {}
            mean = sum(version[no].term_total for no in documents) / max(1, len(documents))
            k1, b = scoring.bm25_k1, scoring.bm25_b

            def part(often: dict[int, int], idf: float) -> dict[int, float]:
                found = dict.fromkeys(version, 0.0)
                for no, tf in often.items():
                    norm = k1 * ((1.0 - b) + b * (version[no].term_total / mean))
                    found[no] = idf * ((tf * (k1 + 1.0)) / (tf + norm))
                return found

            telling = telling_terms(query.question)
            for term in sorted(question_terms(query.question)):
                often = {no: terms[no][term] for no in documents if term in terms[no]}
                any_itself = any_itself or bool(often)
                family = (term, *every_form.get(term, ()))
                together = {no: sum(terms[no].get(form, 0) for form in family) for no in documents}
                together = {no: tf for no, tf in together.items() if tf}
                df = len(often) or len(together)
                if not df:
                    if term in telling:
                        asked.append((idf_of(everywhere, 0), 1.0, dict.fromkeys(version, 0.0)))
                    continue
                idf = idf_of(len(documents), df)
                contribution = part(often, idf)
                if together != often:
                    others = part(together, idf_of(len(documents), len(together)))
                    contribution = {no: max(contribution[no], scoring.form_weight * others[no]) for no in version}
                for no in version:
                    lexical_raw[no] += contribution[no]
                contributions.append(contribution)
                if term in telling:
                    asked.append((idf_of(everywhere, df), idf, contribution))
        lexical_raw = {no: 0.0 if value < scoring.min_bm25 else value for no, value in lexical_raw.items()}
        best_lexical = max(lexical_raw.values(), default=0.0)
        lexical = {no: value / best_lexical if best_lexical else 0.0 for no, value in lexical_raw.items()}

        above: dict[int, float] = dict.fromkeys(version, 0.0)
        rough: dict[int, Fraction] = {}
        rescored: list[int] = []
        vectors: dict[int, Any] = {}
        model = self._model(query)
        if query.vector is not None and model is not None:
            q = [float(value) for value in query.vector]
            root = math.sqrt(dot(q, q))
            for row in sorted(self.rows["node_vector"], key=lambda row: (row.valid_from, row.tx_from, row.row_no)):
                if row.model == model.model and known(row) and row.valid_from <= valid_t and row.node_no in version:
                    vectors[row.node_no] = [float(value) for value in np.frombuffer(row.values, "<f4")]

            def plus(cosine: float) -> float:
                over = cosine - model.baseline
                return 0.0 if over < 0.0 or over < scoring.min_cosine * (1.0 - model.baseline) else over

            approximate = {}
            small_q = quantised(q)
            small_root = math.sqrt(sum(x * x for x in small_q))
            for no, v in vectors.items():
                small = quantised(v)
                norm = math.sqrt(sum(x * x for x in small))
                inverse = np.float32(1.0 / norm if norm > 0 else 0.0)
                approximate[no] = np.float32(sum(x * y for x, y in zip(small, small_q, strict=True))) * inverse
                size = math.sqrt(dot(v, v)) * root
                above[no] = plus(dot(v, q) / size if size > 0 else 0.0)
                rough[no] = rounded(plus(float(approximate[no]) / small_root) if small_root > 0 else 0.0)
            rescored = sorted(vectors, key=lambda no: (-approximate[no], ident[no]))[: max(192, 3 * query.top_k)]
        best_semantic = max((above[no] for no in rescored), default=0.0)
        semantic = {no: min(1.0, above[no] / best_semantic) if best_semantic else 0.0 for no in version}

        share = scoring.semantic_share
        if query.question is None:
            share = 1.0
        if not vectors:
            share = 0.0
        f = {no: share * semantic[no] + (1.0 - share) * lexical[no] for no in version}
        window = {no: version[no].type == "window" for no in version}
        near: dict[int, set[int]] = {no: {no} for no in version}
        for row in edges:
            if row.type == "next" and row.source_no is not None:
                for one, two in ((row.from_node_no, row.to_node_no), (row.to_node_no, row.from_node_no)):
                    if not window[one]:
                        near[one].add(two)

        words, meaning = {}, {}
        for no in version:
            total = 0.0
            for contribution in contributions:
                total += max(contribution[m] for m in near[no])
            words[no] = 0.0 if total < scoring.min_bm25 else total
            held = [rough[m] for m in near[no] if m in rough]
            meaning[no] = float(sum(held)) / len(held) if held else 0.0
        words = {no: max(words[m] for m in near[no]) for no in version}
        meaning = {no: max(meaning[m] for m in near[no]) for no in version}

        by_lexical = sorted((no for no in version if lexical_raw[no] > 0), key=lambda no: (-lexical_raw[no], ident[no]))
        by_semantic = sorted((no for no in rescored if above[no] > 0), key=lambda no: (-above[no], ident[no]))
        foremost = {*by_lexical[:64], *by_semantic[:64]}
        passages = {no for no in foremost if not window[no]}

        evidence = {}
        for no in version:
            held = 0.0
            for weight, idf, contribution in asked:
                held += weight * (max(contribution[m] for m in near[no]) / idf)
            whole = 0.0
            for weight, _, _ in asked:
                whole += weight
            most = (scoring.bm25_k1 + 1.0) * whole
            cover = min(1.0, held / most) if most else 0.0
            close = 0.0
            if vectors and model.baseline < 1.0:
                close = min(1.0, max(0.0, float(rough.get(no, 0)) / (1.0 - model.baseline) - 0.1) / (1.0 - 0.1))
            mute = bool(vectors) and query.question is not None and not any_itself
            part = 1.0 if mute else share
            evidence[no] = part * close + (1.0 - part) * cover
        greatest_evidence = max((evidence[no] for no in foremost), default=0.0)
        doublings = round(math.log2(max(len(version), self.ordinary) / self.ordinary) * 2**30) / 2**30
        best_evidence = greatest_evidence / (1.0 + 0.15 * doublings)
        around = {no: max(evidence[m] for m in near[no]) for no in version}

        links = [row for row in self.rows["node_span"] if known(row)]
        spans = {row.span_no: row for row in self.rows["span"]}
        of_version: dict[int, list[Any]] = defaultdict(list)
        for row in links:
            of_version[row.version_no].append(spans[row.span_no])
        sources_of = {no: {span.source_no for span in of_version[version[no].version_no]} for no in version}
        worth: dict[int, Fraction] = defaultdict(Fraction)
        for no in passages:
            for source_no in sources_of[no]:
                worth[source_no] += rounded(f[no])
        best_worth = float(max(worth.values(), default=0))

        names = [] if query.question is None else [speaker_id(term) for term in question_terms(query.question)]
        said = {no: sum(terms[no].get(name, 0) for name in names) for no in version}
        best_said = max((said[no] for no in passages), default=0)

        days = [] if query.question is None else named_days(query.question, valid_t)
        began = {no: version[no].valid_from for no in version}
        on_them = {
            no: any(midnight(one) - 14 * HOUR <= began[no] < midnight(two) + (12 + 7 * 24) * HOUR for one, two in days)
            for no in version
        }
        other_days = {no for no in version if not on_them[no] and began[no] != -(2**63)}
        if not any(on_them[no] for no in passages):
            other_days = set()

        words_best = max((words[no] for no in passages), default=0.0)
        meaning_best = max((meaning[no] for no in passages), default=0.0)
        g, parts = {}, {}
        for no in version:
            context = share * (min(1.0, meaning[no] / meaning_best) if meaning_best else 0.0) + (1.0 - share) * (
                min(1.0, words[no] / words_best) if words_best else 0.0
            )
            g[no] = f[no] + scoring.context_weight * context
            part = max((float(worth[s]) / best_worth for s in sources_of[no]), default=0.0) if best_worth else 0.0
            spoken = min(1.0, said[no] / best_said) if best_said else 0.0
            if g[no] > 0.0:
                g[no] += scoring.source_weight * part
                g[no] += scoring.speaker_weight * spoken
            factors = (
                scoring.other_days_weight if no in other_days else 1.0,
                scoring.window_weight if window[no] else 1.0,
            )
            counted = (part if scoring.source_weight else 0.0, spoken if scoring.speaker_weight else 0.0)
            parts[no] = (semantic[no], lexical[no], context, *counted, *factors)
            if no in other_days:
                g[no] *= scoring.other_days_weight
            if window[no]:
                g[no] *= scoring.window_weight
        scale = max((g[no] for no in foremost), default=0.0)
        similarity = {}
        for no in version:
            value = min(1.0, g[no] / scale) if scale else 0.0
            for _ in range(int(math.log2(scoring.sharpening))):
                value *= value
            similarity[no] = value

        def packable(no: int) -> bool:
            if version[no].type != "window":
                return True
            stored = query.encoding if query.encoding in ("cl100k_base", "estimate") else "o200k_base"
            return sum(tokens_of(span, stored) for span in of_version[version[no].version_no]) <= query.largest_window

        structured: list[int] = []
        if query.find is not None and Leg.STRUCTURED in query.legs:
            of_type = [no for no in version if version[no].type == query.find and packable(no)]
            structured = sorted(of_type, key=lambda no: ident[no])[: query.find_limit]
        ranked_by_words = [no for no in by_lexical if packable(no)] if Leg.LEXICAL in query.legs else []
        ranked_by_meaning = [no for no in by_semantic if packable(no)] if Leg.SEMANTIC in query.legs else []
        lexical_leg, semantic_leg = ranked_by_words[: query.top_k], ranked_by_meaning[: query.top_k]
        roots = {*structured, *lexical_leg, *semantic_leg}
        incident: dict[int, list[Any]] = defaultdict(list)
        following: dict[int, list[Any]] = defaultdict(list)
        for row in sorted(edges, key=lambda row: row.edge_id):
            for one, two in ((row.from_node_no, row.to_node_no), (row.to_node_no, row.from_node_no)):
                incident[one].append((two, row.confidence))
                if row.type == "next" and row.source_no is not None:
                    following[one].append((two, row.confidence))
        decay = dict.fromkeys(roots, 1.0)
        length: dict[tuple[int, float], int] = {(no, 1.0): 0 for no in roots}
        for hops in ([incident] * query.expand_depth, [following] * (2 if query.expand_depth == 1 else 0)):
            paths = dict.fromkeys(roots, 1.0)
            for hop, followed in enumerate(hops, 1):
                further: dict[int, float] = {}
                for no, carried in paths.items():
                    for other, confidence in followed[no][: self.hub_cap]:
                        arriving = carried * (scoring.hop_decay * confidence)
                        further[other] = max(further.get(other, -1.0), arriving)
                for no, arriving in further.items():
                    decay[no] = max(decay.get(no, -1.0), arriving)
                    length[no, arriving] = min(hop, length.get((no, arriving), hop))
                paths = further
        unscored = query.question is None and query.vector is None
        score = {}
        for no, carried in decay.items():
            fused = carried if unscored else fuse_one(similarity[no], carried, scoring.alpha)
            score[no] = 1.0 if no in structured else fused

        pool = sorted((no for no in score if score[no] > 0), key=lambda no: (-score[no], ident[no]))
        zero = len(score) - len(pool)
        fate = dict.fromkeys(score, "ZERO_SCORE")
        windows: list[Any] = []
        offered = []
        for no in pool:
            own = of_version[version[no].version_no]
            if version[no].type == "window":
                if not packable(no):
                    fate[no] = "WINDOW_TOO_LARGE"
                    continue
                if any(overlap(span, other) for span in own for other in windows):
                    fate[no] = "POORER_WINDOW"
                    continue
                windows += own
            offered.append(no)
        capped = offered[: self.pool_nodes]
        floor = query.min_similarity if not unscored else 0.0
        enough = min(1.0, 1.5 * floor) * greatest_evidence
        kept = [
            no for no in capped if floor == 0.0 or no in structured or (best_evidence >= floor and around[no] >= enough)
        ]

        fate.update(
            dict.fromkeys(offered, "POOL_CAPPED")
            | dict.fromkeys(capped, "BELOW_FLOOR")
            | dict.fromkeys(kept, "OFFERED")
        )
        place = lambda no, ranked: 1 + ranked.index(no) if no in ranked else 0  # noqa: E731
        looked_at = {
            ident[no]: LookedAt(
                score[no],
                None if unscored else similarity[no],
                None if unscored else parts[no],
                carried,
                length[no, carried],
                (no in structured, no in semantic_leg, no in lexical_leg),
                (place(no, structured), place(no, ranked_by_meaning), place(no, ranked_by_words)),
                around[no] if floor > 0.0 else None,
                fate[no],
            )
            for no, carried in decay.items()
        }

        lengths = {(row.source_no, row.version_tx): row.length for row in self.rows["source_version"]}
        sources = {row.source_no: row for row in self.rows["source"]}
        rows, without, missing_kind, missing_slice = [], 0, set(), set()
        for no in kept:
            own = of_version[version[no].version_no]
            without += not own
            for span in own:
                if span.version_tx > tx_t or span.end > lengths.get((span.source_no, span.version_tx), -1):
                    missing_slice.add(span.span_no)
                    continue
                if span.kind is None:
                    missing_kind.add(span.span_no)
                source = sources[span.source_no]
                rows.append(
                    Row(
                        ident[no],
                        source.source_id,
                        span.version_tx,
                        span.start,
                        span.end,
                        span.kind or "body",
                        source.span_class,
                        tokens_of(span, query.encoding),
                        score[no],
                    )
                )
        legs = (len(structured), len(semantic_leg), len(lexical_leg), len(set(decay) - roots))
        return Told(
            sorted(rows),
            looked_at,
            legs,
            len(offered),
            without,
            len(missing_kind),
            len(missing_slice),
            zero,
            len(offered) - len(capped),
            len(capped) - len(kept),
            best_evidence if floor > 0.0 else None,
        )

    def _model(self, query: RecallQuery) -> Any:
        name = query.vector_model
        active = [row for row in self.rows["active_model"] if row.tx_from <= query.tx_t]
        if name is None:
            newest = max(active, key=lambda row: (row.tx_from, row.row_no), default=None)
            name = None if newest is None else newest.model
        elif not any(row.model == name and row.tx_from <= query.tx_t for row in (*self.rows["node_vector"], *active)):
            return None
        return next((row for row in self.rows["vector_model"] if row.model == name), None)
