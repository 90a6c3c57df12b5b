// The prompt for an instruction, with the earlier ones below it.

import * as vscode from 'vscode';
import { visible } from '../text';

interface Entry extends vscode.QuickPickItem {
  /** The earlier instruction that it stands for. */
  earlier?: string;
}

/** Asks for an instruction. Undefined if the user gives none. */
export async function askForInstruction(title: string, verb: string, history: readonly string[]): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<Entry>();
  pick.title = visible(title);
  pick.placeholder = `${verb === 'Refine' ? 'Say what is not right yet' : 'Say what to change'}, and press Enter`;
  pick.ignoreFocusOut = true;
  // An entry whose label matches what is typed would come before the first one, which is what Enter is for.
  pick.items = [
    { label: `$(edit) ${verb}`, description: 'Enter', alwaysShow: true },
    ...(history.length === 0 ? [] : [{ label: 'Earlier', kind: vscode.QuickPickItemKind.Separator }]),
    ...history.map((earlier) => ({ label: '$(history)', description: visible(earlier.replaceAll('\n', ' ')), alwaysShow: true, earlier })),
  ];
  return new Promise<string | undefined>((resolve) => {
    pick.onDidAccept(() => {
      const earlier = pick.activeItems[0]?.earlier;
      // An earlier one can be changed before it is sent.
      if (earlier !== undefined) {
        pick.value = earlier;
        pick.activeItems = pick.items.slice(0, 1);
      } else if (pick.value.trim() !== '') {
        resolve(pick.value.trim());
        pick.hide();
      }
    });
    pick.onDidHide(() => resolve(undefined));
    pick.show();
  }).finally(() => pick.dispose());
}
