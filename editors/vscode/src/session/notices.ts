// A notice when the agent asks or ends and the user looks elsewhere.

import * as vscode from 'vscode';
import { type PermissionRequest, saidByError, type StopReason, type TerminalInfo, type Waiting } from '../generated/protocol';
import { messageOf } from '../server/requests';
import { shortCommand, waitingInWords, waitingTerminals } from '../terminal/state';
import { unlinked } from '../text';
import type { Session, Step } from './session';

export class Notices implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly session: Session,
    private readonly chat: { readonly visible: boolean; focus(): Promise<void> },
    private readonly terminals: { isActive(terminalId: string): boolean; show(terminalId: string): Promise<void> },
  ) {
    this.subscription = session.onStep((step) => this.look(step));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private look({ events, before, after }: Step): void {
    if (!vscode.workspace.getConfiguration('azimuth').get<boolean>('notifications', true)) return;
    const focused = vscode.window.state.focused;
    for (const { event } of events) {
      // A question that was answered among these events is none any more.
      if (event.type === 'permissionAsked' && after.questions.has(event.request.permissionId) && !(focused && this.chat.visible)) void this.ask(event.request);
      if (event.type === 'turnEnded' && event.stopReason !== 'cancelled' && !focused) void this.tellEnd(event.stopReason, event.error);
    }
    if (before.terminals === after.terminals || (focused && this.chat.visible)) return;
    const known = new Set(waitingTerminals(before.terminals).map(({ terminalId }) => terminalId));
    for (const terminal of waitingTerminals(after.terminals)) {
      // Once for each time that something waits, and not where the user looks at it.
      if (!known.has(terminal.terminalId) && !(focused && this.terminals.isActive(terminal.terminalId))) void this.tellWaiting(terminal);
    }
  }

  private async tellWaiting({ terminalId, running, title, waiting }: TerminalInfo & { waiting: Waiting }): Promise<void> {
    const prompt = waiting.prompt.trim() === '' ? '' : ` It says: ${waiting.prompt.trim()}`;
    const answer = 'Answer in the Terminal';
    const chosen = await vscode.window.showInformationMessage(
      unlinked(`Azimuth: ${shortCommand(running?.command ?? title)} ${waitingInWords(waiting)}.${prompt}`), answer, 'Show Chat');
    try {
      if (chosen === answer) await this.terminals.show(terminalId);
      else if (chosen !== undefined) await this.chat.focus();
    } catch (error) {
      void vscode.window.showErrorMessage(unlinked(`Azimuth: ${messageOf(error)}`));
    }
  }

  /** The question with its answers, so that it can be answered without the chat. */
  private async ask(request: PermissionRequest): Promise<void> {
    const show: Choice = { title: 'Show Chat' };
    // A form is filled in where all of it is to be seen.
    const options: Choice[] = (request.form == null ? request.options : []).map(({ name, optionId }) => ({ title: unlinked(name), optionId }));
    const chosen = await vscode.window.showWarningMessage(unlinked(`Azimuth: ${request.title} ${request.form == null ? request.detail : ''}`.trim()), ...options, show);
    if (chosen === undefined) return;
    if (chosen.optionId === undefined) return this.chat.focus();
    try {
      const taken = await this.session.answer(request.permissionId, chosen.optionId);
      if (!taken) void vscode.window.showInformationMessage('Azimuth: that question had been answered already.');
    } catch (error) {
      void vscode.window.showErrorMessage(unlinked(`Azimuth: ${messageOf(error)}`));
    }
  }

  private async tellEnd(reason: StopReason, error: string | undefined): Promise<void> {
    const title = this.session.state?.title ?? '';
    const saysItself = error !== undefined && saidByError.includes(reason);
    const how = saysItself ? error : `${words[reason] ?? 'the turn ended.'}${error === undefined ? '' : ` ${error}`}`;
    const text = `Azimuth${title === '' ? '' : ` (${title})`}: ${how}`;
    const tell = reason === 'error' ? vscode.window.showErrorMessage : vscode.window.showInformationMessage;
    if ((await tell(unlinked(text), 'Show Chat')) !== undefined) await this.chat.focus();
  }
}

/** A button; without an option it shows the chat. */
interface Choice extends vscode.MessageItem {
  optionId?: string;
}

const words: Partial<Record<StopReason, string>> = {
  end_turn: 'done.',
  max_tokens: 'the answer reached its maximum length.',
  max_turn_requests: 'it stopped after many rounds, and asks if it should continue.',
  refusal: 'the model would not answer.',
  error: 'the turn failed.',
  interrupted: 'the turn was interrupted, and can be continued.',
};
