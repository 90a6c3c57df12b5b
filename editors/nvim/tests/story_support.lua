--- The set-up that the stories of suggestions share: a child in `main.rs`, the real server, and a model of the user's
--- machine.

local support = require("support")

local M = {}

---@class Story
---@field code string The text of `main.rs`.
---@field configuration string The server's `config.toml`.
---@field ready string A Lua expression that is true once the server suggests what the story is about.
---@field keys string The keys that take the cursor to where the story begins.
---@field mode? string The mode after them; normal mode without it.
---@field lines? integer Of the screen.
---@field setup? string

--- Runs a story, and ends its child.
---@param story Story
---@param tell fun(child: Child)
function M.run(story, tell)
  local place = support.place({ ["main.rs"] = story.code })
  support.write(place.home .. "/config/azimuth/config.toml", story.configuration)
  local child = support.start(place, { lines = story.lines, setup = story.setup })
  local ok, problem = xpcall(function()
    child:command("edit main.rs")
    child:lua([[
      _G.line = function() return vim.api.nvim_get_current_line() end
      _G.text = function() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n" end
      -- The rows of the window, with all that is drawn.
      _G.shown = function()
        vim.cmd.redraw()
        local rows = {}
        for row = 1, vim.api.nvim_win_get_height(0) do
          local cells = {}
          for column = 1, vim.o.columns do
            table.insert(cells, vim.fn.screenstring(row, column))
          end
          table.insert(rows, (table.concat(cells):gsub("%s+$", "")))
        end
        return rows
      end
    ]])
    child:lua("require('azimuth.client').start()")
    child:wait(story.ready)
    child:wait("vim.lsp.buf_is_attached(0, require('azimuth.client').lsp_client().id)")
    child:type(story.keys)
    child:wait(("vim.api.nvim_get_mode().mode == %q"):format(story.mode or "n"))
    tell(child)
  end, debug.traceback)
  child:stop()
  assert(ok, problem)
end

return M
