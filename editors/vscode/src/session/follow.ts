// Following the agent: an editor beside shows the file and the line that it looks at, and never takes the keyboard.

import * as vscode from 'vscode';
import type { Location, SequencedEvent } from '../generated/protocol';
import type { Held } from '../server/held';
import type { Session, Step } from './session';

/** So long after the user wrote, or moved the cursor, nothing is shown, in milliseconds. */
const PAUSE_MS = 3_000;

export class Follow implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('azimuth.follow', vscode.StatusBarAlignment.Right, 87);
  private readonly subscriptions: vscode.Disposable[];
  /** Where the agent looks and what is not shown yet. */
  private waiting: Location | undefined;
  private isShowing = false;
  private pause: NodeJS.Timeout | undefined;
  /** When the user did something in an editor last. */
  private busy = 0;
  /** The file that the editor beside shows, where, and whether VS Code has told of its tab. */
  private shown: { uri: string; column: vscode.ViewColumn | undefined; isSeen: boolean } | undefined;
  /** True if the user has closed it since the turn began. */
  private isClosed = false;

  constructor(session: Session, private readonly held: Held) {
    this.item.name = 'Azimuth: Follows the Agent';
    this.item.text = '$(eye) follows';
    this.item.tooltip = 'Azimuth: an editor to the side shows where the agent looks. Choose to stop following.';
    this.item.accessibilityInformation = { label: this.item.tooltip };
    this.item.command = 'azimuth.follow.toggle';
    this.subscriptions = [
      this.item,
      session.onStep((step) => this.look(step)),
      session.onSwitch(() => (this.waiting = undefined)),
      vscode.window.tabGroups.onDidChangeTabs(() => this.watch()),
      vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
        if (kind === vscode.TextEditorSelectionChangeKind.Keyboard || kind === vscode.TextEditorSelectionChangeKind.Mouse) this.busy = Date.now();
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document === vscode.window.activeTextEditor?.document) this.busy = Date.now();
      }),
      vscode.workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration('azimuth.follow') ? this.switched() : undefined)),
    ];
    this.switched();
  }

  /** Follows the agent, or no longer, in the user's settings; where the workspace says something of it, in its own. */
  async toggle(): Promise<void> {
    const settings = vscode.workspace.getConfiguration('azimuth');
    const isOfWorkspace = settings.inspect('follow')?.workspaceValue !== undefined;
    await settings.update('follow', !isOn(), isOfWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global);
  }

  dispose(): void {
    clearTimeout(this.pause);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private switched(): void {
    this.isClosed = false;
    if (isOn()) return this.item.show();
    this.item.hide();
    this.waiting = undefined;
    const tab = this.tab();
    this.shown = undefined;
    // One that was pinned, or written in, is the user's.
    if (tab?.isPreview === true) void vscode.window.tabGroups.close(tab, true);
  }

  private look({ events, after }: Step): void {
    if (events.some(({ event }) => event.type === 'turnStarted')) this.isClosed = false;
    // Events from before the window was there are not looked at any more.
    if (!isOn() || after.runningTurn === undefined) {
      this.waiting = undefined;
      return;
    }
    const location = events.map(placeOf).findLast((place) => place !== undefined);
    if (location === undefined || this.isClosed) return;
    this.waiting = location;
    void this.show();
  }

  /** Shows what waits, one after the other; what came meanwhile and was overtaken is left out. */
  private async show(): Promise<void> {
    if (this.isShowing) return;
    this.isShowing = true;
    try {
      for (let location = this.next(); location !== undefined; location = this.next()) {
        // A file that is gone or no text is not worth a message.
        await this.open(location).catch(() => undefined);
      }
    } finally {
      this.isShowing = false;
    }
    // VS Code may have told of its tab meanwhile.
    this.watch();
  }

  private next(): Location | undefined {
    const rest = this.busy + PAUSE_MS - Date.now();
    clearTimeout(this.pause);
    if (this.waiting !== undefined && rest > 0) {
      this.pause = setTimeout(() => void this.show(), rest);
      return undefined;
    }
    const location = this.waiting;
    this.waiting = undefined;
    return location;
  }

  private async open({ uri: of, line }: Location): Promise<void> {
    const uri = vscode.Uri.parse(of);
    const viewColumn = this.column();
    if (uri.scheme !== 'file' || viewColumn === undefined) return;
    const document = await this.held.open(uri);
    const place = new vscode.Position(Math.min(line ?? 0, document.lineCount - 1), 0);
    const selection = new vscode.Range(place, place);
    const former = this.tab();
    const editor = await vscode.window.showTextDocument(document, { viewColumn, preserveFocus: true, preview: true, ...(line === undefined ? {} : { selection }) });
    const key = document.uri.toString();
    this.shown = { uri: key, column: editor.viewColumn, isSeen: this.shown?.uri === key && this.shown.isSeen };
    if (line !== undefined) editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    // Where the user has no previews, each file would leave its tab there.
    const hasPreviews = vscode.workspace.getConfiguration('workbench.editor').get<boolean>('enablePreview', true);
    const isLeft = hasPreviews ? former?.isPreview === true && !former.isActive && former.group.viewColumn !== editor.viewColumn : uriOf(former) !== key;
    if (isLeft && former !== undefined && !former.isDirty) await vscode.window.tabGroups.close(former, true);
  }

  /** Where to show: beside, and again where it was. Undefined while the user is there. */
  private column(): vscode.ViewColumn | undefined {
    const { all, activeTabGroup } = vscode.window.tabGroups;
    const tab = this.tab();
    if (tab === undefined) return activeTabGroup.tabs.length === 0 ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
    if (tab.group !== activeTabGroup) return tab.group.viewColumn;
    if (all.length > 1) return undefined;
    // Where it has the only group to itself, nobody is in another file there.
    return activeTabGroup.tabs.length === 1 ? tab.group.viewColumn : vscode.ViewColumn.Beside;
  }

  /** The tab that was shown, where it is still there; the user may have it elsewhere, too, and as a preview as well. */
  private tab(): vscode.Tab | undefined {
    if (this.shown === undefined) return undefined;
    const { uri, column } = this.shown;
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => uriOf(tab) === uri);
    return tabs.find(({ group }) => group.viewColumn === column) ?? tabs.find(({ isPreview }) => isPreview) ?? tabs.at(-1);
  }

  /** A tab that was there and is not was closed by the user, or another file was put in its place. */
  private watch(): void {
    if (this.shown === undefined) return;
    if (this.tab() !== undefined) this.shown.isSeen = true;
    else if (this.shown.isSeen && !this.isShowing) [this.shown, this.waiting, this.isClosed] = [undefined, undefined, true];
  }
}

function isOn(): boolean {
  return vscode.workspace.getConfiguration('azimuth').get<boolean>('follow', false);
}

function placeOf({ event }: SequencedEvent): Location | undefined {
  return event.type === 'toolCallStarted' || event.type === 'toolCallEnded' ? event.locations[0] : undefined;
}

function uriOf(tab: vscode.Tab | undefined): string | undefined {
  const input = tab?.input;
  return input instanceof vscode.TabInputText ? input.uri.toString() : undefined;
}
