// Generated from the table `protocol::mode` by `cargo run -p xtask -- codegen`. Do not edit.

import type { Mode } from './protocol';

/** A mode, as it is shown to the user. */
export interface ModeInfo {
  readonly mode: Mode;
  /** Its name in a menu. */
  readonly label: string;
  /** One line on it, without a capital letter and a full stop. */
  readonly words: string;
  /** True if edits are accepted automatically in it. */
  readonly acceptsEdits: boolean;
  /** False if nothing is asked in it but what `ask` rules ask. */
  readonly asks: boolean;
  /** True if the user has to confirm it. */
  readonly needsConfirmation: boolean;
}

/** Every mode, the one that may do least first. */
export const modes: Readonly<Record<Mode, ModeInfo>> = {
  ask: {
    mode: 'ask',
    label: 'Ask',
    words: 'reads and answers; changes nothing and runs nothing',
    acceptsEdits: false,
    asks: true,
    needsConfirmation: false,
  },
  plan: {
    mode: 'plan',
    label: 'Plan',
    words: 'reads, runs commands that only read, and plans; changes nothing',
    acceptsEdits: false,
    asks: true,
    needsConfirmation: false,
  },
  agent: {
    mode: 'agent',
    label: 'Agent',
    words: 'everything, within the permissions: proposes edits, and asks before commands',
    acceptsEdits: false,
    asks: true,
    needsConfirmation: false,
  },
  accept_edits: {
    mode: 'accept_edits',
    label: 'Accept edits',
    words: 'like agent, but accepts edits automatically',
    acceptsEdits: true,
    asks: true,
    needsConfirmation: false,
  },
  bypass: {
    mode: 'bypass',
    label: 'Bypass',
    words: 'accepts edits automatically, and asks only where your `ask` rules require it',
    acceptsEdits: true,
    asks: false,
    needsConfirmation: true,
  },
};
