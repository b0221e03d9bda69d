// The documents of the API under the names that the page uses. They are generated: schema.ts
// is made of docs/openapi.json by `npm run check`, and not committed. Fields that Go leaves out when they are
// empty are optional, lists too: readers of those write `?? []`. Any other list is there, and
// may be empty. What was not measured, or is not known, is null, never 0.

import type { components } from './schema'

type Schemas = components['schemas']

/** A value that may be missing, or not known. */
export type Maybe<T> = T | null | undefined

export type Ablation = Schemas['Ablation']
export type Blame = Schemas['Blame']
export type BlameLine = Schemas['Line']
export type BlameSource = Schemas['Source']
export type CallsListed = Schemas['AskCalls']
export type CallListed = Schemas['RecordCall']
export type Calls = Schemas['Calls']
export type CandidateRecord = Schemas['CandidateRecord']
export type Certificate = Schemas['Certificate']
export type Comparison = Schemas['Comparison']
export type ConfigDiff = Schemas['ConfigDiff']
export type Conversation = Schemas['Conversation']
export type Decided = Schemas['Decided']
export type DiffHunk = Schemas['DiffHunk']
export type DiffLine = Schemas['DiffLine']
export type DiffWord = Schemas['DiffWord']
export type Difference = Schemas['Difference']
export type Drafted = Schemas['Drafted']
export type EditDetail = Schemas['EditDetail']
export type EditReport = Schemas['Report']
export type EpochRecord = Schemas['EpochRecord']
export type Evaluation = Schemas['Evaluation']
export type ExchangePart = Schemas['ExchangePart']
export type Failures = Schemas['Failures']
export type FileDiff = Schemas['FileDiff']
export type Folder = Schemas['Folder']
export type GatewaySummary = Schemas['GatewaySummary']
export type Grid = Schemas['Grid']
export type GridColumn = Schemas['GridColumn']
export type Interval = Schemas['Interval']
export type GridTask = Schemas['GridTask']
export type History = Schemas['History']
export type Listing = Schemas['Listing']
export type Manifest = Schemas['Manifest']
export type Message = Schemas['RecordedMessage']
export type MinedEdit = Schemas['MinedEdit']
export type MinedTask = Schemas['MinedTask']
export type NightAdopted = Schemas['NightAdopted']
export type NightAnswer = Schemas['NightDiagnosed']
export type NightJoint = Schemas['NightJoint']
export type NightCan = Schemas['NightCan']
export type NightGroups = Schemas['NightGroups']
export type NightCount = Schemas['NightCount']
export type NightEdit = Schemas['NightEdit']
export type NightForecast = Schemas['NightForecast']
export type NightFunnel = Schemas['MineFunnel']
export type NightJudging = Schemas['NightJudging']
export type NightLook = Schemas['NightLook']
export type NightPlaced = Schemas['NightPlaced']
export type NightShown = Schemas['Night']
export type NightRule = Schemas['NightRule']
export type NightStaged = Schemas['NightStaged']
export type NightTarget = Schemas['NightTarget']
export type MineCount = Schemas['MineCount']
export type NightWords = Schemas['NightWords']
export type NoiseFloor = Schemas['NoiseFloor']
export type Notes = Schemas['Notes']
export type Origin = Schemas['Origin']
export type Outcome = Schemas['Outcome']
export type Participant = Schemas['Participant']
export type Progress = Schemas['Progress']
export type Proposal = Schemas['Proposal']
export type Pruned = Schemas['Pruned']
export type Repeats = Schemas['Repeats']
export type Rule = Schemas['Rule']
export type RuleWorth = Schemas['RuleWorth']
export type RunFile = Schemas['RunFile']
export type Queue = Schemas['Queue']
export type Queued = Schemas['Queued']
export type RunRow = Schemas['RunRow']
export type RunShown = Schemas['Run']
export type RunsCompared = Schemas['RunsCompared']
export type Score = Schemas['Score']
export type SeedNoise = Schemas['SeedNoise']
export type Server = Schemas['About']
export type SkillFile = Schemas['SkillFile']
export type SkillFiles = Schemas['SkillFiles']
export type Spending = Schemas['Spending']
export type Spent = Schemas['Spent']
export type SplitScore = Schemas['SplitScore']
export type StageUsage = Schemas['Stage']
export type Standing = Schemas['Standing']
export type Steered = Schemas['Steered']
export type StepDetail = Schemas['StepDetail']
export type StepRecord = Schemas['StepRecord']
export type Stop = Schemas['Stop']
export type Summary = Schemas['Summary']
export type TaskDifference = Schemas['TaskDifference']
export type TaskShown = Schemas['TaskAnswer']
export type TestComparison = Schemas['TestComparison']
export type TestReads = Schemas['TestReads']
export type Tokens = Schemas['Tokens']
export type Try = Schemas['Try']
export type Turn = Schemas['Turn']
export type UnknownUsage = Schemas['UnknownUsage']
export type Usage = Schemas['Usage']
export type Version = Schemas['Version']
export type Versions = Schemas['Versions']
export type Work = Schemas['Work']
export type TaskEvaluation = NonNullable<TaskShown['evaluations']>[number]

/**
 * A line of the event log: its number, its kind and time, and the fields of the event. These
 * are no part of the document: package event has them.
 */
export interface EventLine { seq: number; event: string; time: string; [field: string]: unknown }

/** How far a gate has read: event.GateRead. */
export interface GateRead extends EventLine {
  key: string
  epoch?: number
  step: number
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

/** Requests in flight for one purpose at one endpoint: event.InFlightCalls. */
export interface InFlightCalls { stage: string; role: string; model: string; endpoint: string; calls: number; oldest_s: number }
