// The documents of the API, as package result and the reader of runs write them.
// What was not measured, or is not known, is null, never 0. Fields that Go leaves out
// when they are empty are optional here.

export type Maybe<T> = T | null | undefined

export interface Folder { name: string; path: string; error?: string }
export interface Notes { text?: string; tags?: string[] }

export interface RunRow {
  id?: string
  run_dir: string
  name: string
  run_id?: string
  kind: string
  status: string
  reason?: string
  resumable?: boolean
  copy?: boolean
  simulated?: boolean
  exploratory?: boolean
  skill?: string
  models?: string[]
  created_at: string | null
  ended_at: string | null
  steps: number
  of_steps?: number
  score: number | null
  low: number | null
  high: number | null
  split?: string
  change: number | null
  certified: boolean | null
  calls: number
  cost_usd: number | null
  notes: Notes
}
export interface Listing { folders: Folder[]; runs: RunRow[] }

export interface Server { version?: unknown; read_only: boolean; folders: Folder[]; now: string }

export interface Score { hard: number; soft: number; n: number; hard_low: number; hard_high: number }
export interface Tokens { input: number; output: number; cached: number }
export interface Calls {
  total: number
  by_stage: Record<string, number> | null
  faults?: Record<string, number>
  reused: number
  inherited?: number
  from_runs?: number
}
export interface UnknownUsage {
  calls: number
  unbounded?: number
  tokens_at_most: number
  failed_tokens_at_most?: number
  failed_usd_at_most?: number | null
}
export interface Usage { calls: Calls; tokens: Tokens; cost_usd: number | null; usage_unknown?: UnknownUsage | null; wall_s: number }
export interface StageUsage {
  stage: string
  role: string
  calls: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_usd: number | null
}
export interface TestReads { times: number; by?: { run: string; command: string; times: number }[]; unknown?: string }

export interface Reported {
  metric: string
  pooled: number
  low: number
  high: number
  naive: number
  shrunken: number
  items: number
  evaluations: number
  folds?: number
  fresh: number | null
}
export interface SeedNoise {
  items: number
  twice: number
  flips: string[] | null
  within: number
  minimum_detectable_effect: number
  alike: boolean
  advice?: string
}
export interface TestComparison {
  metric: string
  n: number
  tasks: number
  difference: number | null
  low: number | null
  high: number | null
  wins: number
  losses: number
  ties: number
  mcnemar_p: number | null
  p_greater?: number | null
}
export interface Certificate extends TestComparison {
  test?: string
  reading?: number
  alpha: number
  level?: number | null
  e_value?: number | null
  e_mean?: number | null
  e_sign?: number | null
  certified: boolean
  at_least: number | null
  assumes?: string
  words: string
}
export interface Stop {
  rule: string
  epoch: number
  step: number
  steps_left: number
  score: number | null
  [more: string]: unknown
}
export interface Summary extends Usage {
  run_dir: string
  status: string
  reason?: string
  simulated: boolean
  exploratory?: boolean
  steps: number
  ended_after_step?: number | null
  continues?: { run_id: string; name: string; steps: number; tested: boolean } | null
  stop?: Stop | null
  accepted: number
  rejected: number
  skipped: number
  best: { step: number; selection: Score | null; reported: Reported | null }
  test: {
    seed: Score | null
    best: Score | null
    final: Score | null
    no_skill?: Score | null
    openings?: number
    refused?: boolean
    read_before?: TestReads | null
  }
  lost_replies: number
  warnings?: string[]
  stages: StageUsage[] | null
  test_by_type?: Record<string, Record<string, Score>>
  certificate: Certificate | null
  noise: SeedNoise | null
  null_controls?: { judged: number; accepted: number } | null
  drift?: { at: string; from: string[]; to: string[] }[]
}

export interface EditReport {
  index: number
  op: string
  file?: string
  status: string
  target: string
  content_preview: string
  detail?: string
}
export interface CandidateRecord {
  index: number
  merged?: number[]
  second_try?: number
  hash?: string
  action: string
  reason?: string
  n_edits: number
  gate_score: number | null
  difference?: number | null
  difference_se?: number | null
  taken?: boolean
}
export interface StepRecord {
  step: number
  epoch: number
  step_in_epoch: number
  fold?: number
  action: string
  reason?: string
  retried?: boolean
  rollout_hard: number | null
  rollout_soft: number | null
  rollout_n: number
  n_patches: number
  n_failure_patches: number
  n_success_patches: number
  n_lost_replies: number
  n_edits_merged: number
  n_edits_ranked: number
  edit_budget: number | null
  candidate_hash?: string
  candidate_skill_len?: number
  selection_hard: number | null
  selection_soft: number | null
  selection_n: number
  gate_metric?: string
  candidate_gate_score: number | null
  current_score: number | null
  best_score: number | null
  best_step: number
  current_origin: string
  best_origin: string
  skill_hash: string
  skill_len: number
  unmeasured?: string[]
  refused?: string
  edits?: EditReport[]
  appendix_notes?: string[]
  difference?: number | null
  difference_se?: number | null
  gate_phase?: string
  gate_draws?: Record<string, number>
  candidates?: CandidateRecord[]
}
export interface EpochRecord {
  epoch: number
  slow_update?: string
  guidance?: string
  pairs?: Record<string, number>
  slow_update_score?: number | null
  meta_skill?: string
  lost_replies?: string[]
  unmeasured?: string[]
  skill_hash: string
}
export interface History {
  steps: StepRecord[] | null
  epochs: EpochRecord[] | null
  final?: { [more: string]: unknown } | null
  stop?: Stop | null
  noise?: SeedNoise | null
}
export interface Manifest {
  run_id: string
  name: string
  kind: string
  created_at: string
  version: string
  status: string
  reason?: string
  identity: Record<string, string> | null
  operational?: Record<string, string> | null
  simulated?: boolean
  plan?: { train: number; selection: number; test: number; steps: number; folds?: number } | null
  [more: string]: unknown
}
export interface Participant { role: string; provider?: string; model?: string; base_url?: string; name?: string; version?: string }

export interface SplitScore extends Score { by_type?: Record<string, Score>; unmeasured?: string[]; repeats?: Repeats | null }
export interface Repeats {
  passes: number
  evaluations: number
  within: number | null
  between: number | null
  detectable: number | null
  flips: string[] | null
}
export interface Evaluation extends Usage {
  run_dir: string
  simulated: boolean
  skill_hash: string
  splits: Record<string, SplitScore>
  some?: Record<string, { tasks: number; of: number }>
  test_read_before?: TestReads | null
}
export interface TaskDifference { id: string; a: number; b: number; n: number }
export interface Comparison extends Usage {
  run_dir: string
  simulated: boolean
  verdict: string
  about: string
  metric: string
  difference: number | null
  low: number | null
  high: number | null
  level: number
  margin: number
  a: { skill_hash: string; score: Score | null }
  b: { skill_hash: string; score: Score | null }
  split: string
  tasks: number
  passes: number
  max_passes: number
  pairs: number
  wins: number
  losses: number
  ties: number
  needs?: { pairs: number; passes?: number; tasks?: number } | null
  by_task: TaskDifference[] | null
  unmeasured?: string[]
  test_read_before?: TestReads | null
}
export interface Rule { rule: number; file?: string; line: number; last_line: number; text: string }
export interface RuleWorth extends Rule {
  verdict: string
  worth: number | null
  low: number | null
  high: number | null
  pairs: number
  wins: number
  losses: number
  ties: number
  unmeasured?: string[]
}
export interface Ablation extends Usage {
  run_dir: string
  simulated: boolean
  skill_hash: string
  split: string
  tasks: number
  metric: string
  margin: number
  level: number
  max_passes: number
  alike: boolean
  rules: RuleWorth[] | null
}
export interface Pruned extends Ablation {
  steps: { rule: number; removed: boolean; verdict: string; difference: number | null; low: number | null; high: number | null; pairs: number; with?: number[] }[] | null
  removed: Rule[] | null
  pruned_hash: string
  bytes: [number, number]
  certify_split: string
  certificate: null | {
    certified: boolean
    worse: boolean
    held_out: boolean
    alike: boolean
    tasks: number
    pairs: number
    difference: number | null
    low: number | null
    high: number | null
    wins: number
    losses: number
    ties: number
  }
}
export interface GatewaySummary {
  exchanges: number
  failed: number
  tokens: Tokens
  cost_usd: number | null
  total_calls: number
  total_tokens: Tokens
  total_usd: number | null
}
export interface RunShown {
  run_dir: string
  row: RunRow
  manifest: Manifest
  killed?: boolean
  models: Participant[] | null
  history: History
  summary: Summary | null
  gateway?: GatewaySummary
  evaluation?: Evaluation
  comparison?: Comparison
  ablation?: Ablation
  pruning?: Pruned
}

export interface Standing { score: number; low?: number | null; high?: number | null; n?: number; origin: string }
export interface Place { step: number; epoch?: number; at: string; task?: string; sample: number; attempt?: number; turn?: number }
export interface Work extends Place { stage: string; answered: number; of?: number }
export interface Decided {
  step: number
  epoch: number
  end?: boolean
  action: string
  reason?: string
  score: number | null
  difference?: number | null
  n?: number
}
export interface Progress {
  run_dir: string
  run_id: string
  at: string
  kind: string
  status: string
  killed?: boolean
  reason?: string
  simulated: boolean
  begun: string
  epoch?: number
  step: number
  plan: { train: number; selection: number; test: number; steps: number } | null
  work: Work[] | null
  calls: number
  last_minute: number
  inherited?: number
  episodes?: number
  failed: Record<string, number> | null
  usage_unknown?: number
  tokens: Tokens
  cost_usd: number | null
  ceilings: { calls: number | null; tokens: number | null; usd: number | null; time?: string }
  current: Standing | null
  best: Standing | null
  decisions: Decided[] | null
  faults: (Place & { seq: number; ended: string | null; code: string; stage: string })[] | null
  entries: number
  unread?: number
  last_entry: string | null
  silent_s?: number | null
  last_stage?: string
}

export interface GridColumn {
  step: number
  epoch?: number
  arm: string
  split: string
  title: string
  hard: number | null
  n: number
  cells: string
}
export interface GridTask {
  id: string
  type?: string
  split: string
  text?: string
  asked: number
  solved: number | null
  flips: number
  regressions: number
  status: string
  fail_reason?: string
}
export interface Grid { run_dir: string; columns: GridColumn[] | null; tasks: GridTask[] | null }

export interface Version {
  version: string
  step: number
  epoch?: number
  origin: string
  hash: string
  score: number | null
  n?: number
  files: string[] | null
}
export interface Versions { run_dir: string; best: string; versions: Version[] | null }
export interface SkillFile { path: string; size: number; text?: string }
export interface SkillFiles { run_dir: string; version: string; files: SkillFile[] | null }
export interface DiffWord { text: string; changed?: boolean }
export interface DiffLine { op: 'equal' | 'delete' | 'insert'; from?: number; to?: number; text: string; words?: DiffWord[] }
export interface DiffHunk { from: number; to: number; lines: DiffLine[] | null }
export interface FileDiff { path: string; state: string; hunks: DiffHunk[] | null }
export interface Difference { from: string; to: string; equal: boolean; diff: string; files: FileDiff[] | null }

export interface Origin { kind: string; step: number; epoch?: number; edit?: number }
export interface BlameLine { line: number; text: string; origin: Origin }
export interface BlameSource {
  origin: Origin
  lines: number[] | null
  files?: Record<string, number[]>
  edit?: { op: string; file?: string; target?: string; content?: string; support_count?: number; source_type?: string }
  summary?: string[]
  asked_by?: {
    link: string
    source?: string
    support?: number
    tasks?: string[]
    patterns?: { name?: string; count?: number; description: string }[]
    replies?: string[]
    why?: string[]
  }
  gate?: {
    action: string
    reason?: string
    before: number | null
    after: number | null
    difference: number | null
    se?: number | null
    n?: number
  }
}
export interface Blame {
  run: string
  version: string
  simulated: boolean
  lines: BlameLine[] | null
  files?: { file: string; lines: BlameLine[] | null }[]
  sources: BlameSource[] | null
  problems: string[] | null
}

export interface EditDetail {
  index: number
  op: string
  file?: string
  target?: string
  content?: string
  status: string
  detail?: string
  why?: string[]
  tasks?: string[]
  support?: number
  kept: boolean
}
export interface StepDetail { run_dir: string; record: StepRecord; edits: EditDetail[] | null; lost_replies?: string[] }

export interface CheckVerdict {
  check: string
  type?: string
  verdict: string
  score?: number
  weight?: number
  optional?: boolean
  saw?: string
  why?: string
}
export interface Turn { kind?: string; role?: string; content?: string; step?: string; action?: string; observation?: string }
export interface Outcome {
  id: string
  type?: string
  status: string
  hard: number
  soft: number
  answer?: string
  extracted?: string
  fail_reason?: string
  feedback?: string
  checks?: CheckVerdict[] | null
  question?: string
  reference?: string
  trajectory?: Turn[] | null
  usage: { input: number; output: number; cached?: number }
  served?: string
}
export interface Message { role: string; text: string }
export interface Conversation {
  model?: string
  messages: Message[] | null
  reply: { text: string; finish?: string; usage?: { input: number; output: number; cached?: number }; model?: string; fingerprint?: string; [more: string]: unknown }
  limit?: string
  message?: string
  [more: string]: unknown
}
export interface ExchangePart { kind?: string; id?: string; name?: string; failed?: boolean; text: string; more?: string }
export interface Try {
  key: string
  attempt: number
  counts: boolean
  code?: string
  calls: unknown[] | null
  messages: { role: string; parts: ExchangePart[] | null }[] | null
}
export interface TaskEvaluation extends Place {
  where: string
  arm?: string
  split?: string
  key?: string
  episode?: boolean
  open?: boolean
  outcome: Outcome | null
  conversation?: Conversation
  attempts?: Try[]
}
export interface TaskShown { run_dir: string; task: string; evaluations: TaskEvaluation[] | null }

export interface Failures {
  run_dir: string
  where: string
  tasks: number
  answers?: number
  unmeasured?: string[]
  failing: Outcome[] | null
  lost: string[] | null
}
export interface Spent {
  part: string
  step: number
  epoch?: number
  calls: number
  failed_attempts: number
  taken_over?: number
  usage_unknown?: number
  input_tokens: number
  output_tokens: number
  cached_tokens?: number
  usd: number | null
  best: number | null
  gain: number | null
}
export interface Spending { run_dir: string; parts: Spent[] | null }
export interface ConfigDiff { key: string; class: string; values: (string | null)[] }
export interface RunsCompared { runs: RunRow[] | null; config: ConfigDiff[] | null }

/** A line of the event log: its number, kind and time, and the fields of the event. */
export interface EventLine { n: number; event: string; time: string; [field: string]: unknown }

export interface GateRead extends EventLine {
  epoch?: number
  step: number
  candidate?: number
  gate: string
  phase: string
  units: number
  of: number
  wins: number
  losses: number
  ties: number
  missing?: number
  difference: number | null
  low: number | null
  high: number | null
  reject: number | null
  accept: number | null
  action?: string
  reason?: string
}
export interface InFlightCalls { stage: string; role: string; model: string; endpoint: string; calls: number; oldest_s: number }
