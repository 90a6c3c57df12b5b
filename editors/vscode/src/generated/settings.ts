// Generated from the table `protocol::settings` by `cargo run -p xtask -- codegen`. Do not edit.

/** The settings that may allow something, or that only the user may change otherwise. */
export const trusted = [
  'planModel',
  'fastModel',
  'titleModel',
  'completionModel',
  'nextEditModel',
  'instructModel',
  'enabledModels',
  'disabledProviders',
  'inlineQuiet',
  'inlineOffIn',
  'inlineOffLanguages',
  'inlineCounts',
  'inlineCostLimit',
  'sessionBudget',
  'dayBudget',
  'acceptEdits',
  'caFile',
  'idleTimeout',
  'checkpointDays',
  'undoCommands',
  'reviewCommands',
  'sandbox',
  'sandboxNetwork',
  'sandboxWrite',
  'sandboxRead',
  'passEnvironment',
  'shellRc',
  'allowBypass',
  'projectCommands',
  'permissions.allow',
  'retries',
  'retryDelay',
  'retryLongest',
  'modelCooldown',
  'contextPromotion',
  'providers',
] as const;

/** The settings that a workspace may choose, too. */
export const free = [
  'model',
  'inlineInCompletion',
  'inlineEditsAsActions',
  'log',
  'chatAnswers',
  'codeActions',
  'editMode',
  'editTools',
  'stopEarly',
  'fileBlocks',
  'canonicalEdits',
  'interceptCommands',
  'formatEdits',
  'saveEdits',
  'checkEdits',
  'mendErrors',
] as const;

/** The lists to which a workspace and its folders may add. */
export const additive = [
  'permissions.ask',
  'permissions.deny',
] as const;
