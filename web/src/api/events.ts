// The events of an exchange, as docs/sse.md describes them. A test of
// internal/httpapi holds this file to what the server sends: every event is one
// line of Events.

/** Where an event belongs. Every JSON payload says it. */
export interface Placed {
  conversation_id: string;
  exchange_id: string;
}

export interface ToolCall {
  name: string;
  arguments: unknown;
}

export interface PlanSlot {
  member_id: string;
  card_id: string | null;
  name: string;
  cue: string;
}

/** What was cut off a reply because it went on as somebody else; nothing when it began so. */
export interface Cut {
  label: string;
  removed: string;
}

export interface Usage {
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

export interface Timing {
  first_ms: number;
  total_ms: number;
}

export type ProblemKind = "provider" | "transport" | "workflow" | "internal";

export type Status = "completed" | "stopped" | "failed";

/** The payloads by event. An empty payload is null. */
export interface Events {
  user_message_created: Placed & { id: number; content: string };
  phase_status: Placed & { channel: string; label?: string; state?: "running" | "done" };
  step_start: Placed & { step: string };
  director_start: null;
  reasoning: Placed & { pass: string; delta: string };
  director_done: Placed & { active_moods: string[]; injection_block: string; tool_calls: ToolCall[]; agent_latency_ms: number; extra_fields: Record<string, unknown>; fragment_cooldowns: Record<string, number> };
  speaking_plan: Placed & { plan: PlanSlot[] };
  speaker_start: Placed & { member_id: string | null; card_id: string | null; name: string; index: number; total: number; cue: string };
  token: string;
  writer_done: Placed & { editor_will_run: boolean };
  draft_update: Placed & { draft: string };
  writer_rewrite: Placed & { refined_text: string };
  editor_done: Placed & { tool_calls: ToolCall[] };
  feedback: Placed & { values: Record<string, string> };
  speaker_done: Placed & { message_id: number; parent_id: number | null; turn_index: number; member_id: string | null; card_id: string | null; name: string; content: string; incomplete: boolean; cut?: Cut; usage?: Usage; timing?: Timing };
  speaker_failed: Placed & { member_id: string | null; detail: string };
  warning: Placed & { headline: string; sentence: string; kind: ProblemKind; stage: string; status?: number; host?: string; model?: string; body?: string };
  error: Placed & { headline: string; sentence: string; kind: ProblemKind; stage: string; status?: number; host?: string; model?: string; body?: string };
  done: Placed & { status: Status };
  resync: Placed;
}

export type EventName = keyof Events;
