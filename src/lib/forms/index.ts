export { AnswerChecker, type CheckedAnswers } from './answers.js';
export { checkComplete, checkDefinition, conditionOf } from './check-definition.js';
export { ExportColumns, type Version } from './columns.js';
export * from './definition.js';
export { Distribution, type QuestionSummary, Summaries } from './summaries.js';
export { Fields } from './fields.js';
export { isAnswerable, kindOf } from './kinds/index.js';
export type { Cell } from './kinds/kind.js';
export { holds } from './logic.js';
