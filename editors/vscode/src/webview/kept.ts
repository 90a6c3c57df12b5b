// The state of the page that outlives it: a hidden view is destroyed, and must lose nothing that was typed.

import type { FormAnswer, PermissionId } from '../generated/protocol';
import type { Draft } from '../chat/messages';

/** The state that VS Code keeps for the page. */
interface VsCode {
  getState(): unknown;
  setState(state: Page): void;
}

interface Page extends Draft {
  /** The answers to forms that are not sent yet. */
  forms?: [PermissionId, FormAnswer[]][];
}

/** So many forms are kept: one that was answered elsewhere while the page was gone is not heard of. */
const MOST_FORMS = 20;

export class Kept {
  private draft: Draft | undefined;
  private readonly forms: Map<PermissionId, FormAnswer[]>;

  constructor(private readonly vscode: VsCode) {
    const { forms, ...draft } = (vscode.getState() ?? {}) as Partial<Page>;
    this.draft = 'text' in draft ? draft as Draft : undefined;
    this.forms = new Map(forms ?? []);
  }

  getState(): Draft | undefined {
    return this.draft;
  }

  setState(draft: Draft): void {
    this.draft = draft;
    this.save();
  }

  /** The answers to a form so far; undefined if nobody has touched it. */
  form(id: PermissionId): FormAnswer[] | undefined {
    return this.forms.get(id);
  }

  /** Keeps the answers to a form, or forgets them. */
  keepForm(id: PermissionId, answers: FormAnswer[] | undefined): void {
    const had = this.forms.delete(id);
    if (answers !== undefined) this.forms.set(id, answers);
    if (had || answers !== undefined) this.save();
  }

  private save(): void {
    const forms = [...this.forms].slice(-MOST_FORMS);
    this.vscode.setState({ ...(this.draft ?? { text: '', attachments: [] }), forms });
  }
}
